package tare

import (
	"encoding/json"
	"fmt"
)

// Kind is a way in which contenders are tested, e.g. codec. A document has it as a list of one, and
// none as an empty list.
type Kind string

// MarshalJSON writes the list.
func (k Kind) MarshalJSON() ([]byte, error) {
	if k == "" {
		return []byte("[]"), nil
	}
	return json.Marshal([]string{string(k)})
}

// UnmarshalJSON reads a list of at most one.
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
