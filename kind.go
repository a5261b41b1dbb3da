package tare

import (
	"encoding/json"
	"fmt"
)

// Kind is the kind of a study's contenders, e.g. codec or server. It decides how they are tested.
// In JSON it is a list with one string, or an empty list for "".
type Kind string

// MarshalJSON encodes the kind as a list.
func (k Kind) MarshalJSON() ([]byte, error) {
	if k == "" {
		return []byte("[]"), nil
	}
	return json.Marshal([]string{string(k)})
}

// UnmarshalJSON decodes a list of at most one string.
func (k *Kind) UnmarshalJSON(text []byte) error {
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("kinds: %w", err)
	}
	switch len(list) {
	case 0:
		*k = ""
	case 1:
		*k = Kind(list[0])
	default:
		return fmt.Errorf("kinds: %d kinds; a study has one", len(list))
	}
	return nil
}
