package homelab

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

const (
	on  = "on"
	off = "off"

	// Actions of a command.
	turnOn  = "turn_on"
	turnOff = "turn_off"
	toggle  = "toggle"
	set     = "set"
)

// maxAttributes limits the attributes of a device, and so the memory that clients can fill.
const maxAttributes = 64

// Command turns a device on or off, or merges parameters into its attributes. It reports an unknown action
// first, then an unknown device, then a read-only one. Without a change, LastUpdated stays. The house does not
// retain strings or values of c.
func (h *House) Command(id string, c Command) (Outcome, error) {
	action, ok := canonicalAction(c.Action)
	if !ok {
		return Outcome{}, unknownAction(c.Action)
	}
	i, ok := h.indexByID[id]
	if !ok {
		return Outcome{}, noDevice(id)
	}
	d := h.Devices()[i]
	if isReadOnly(d) {
		return Outcome{}, readOnlyDevice(d)
	}
	// A command that changes nothing needs no lock.
	_, changed, err := applyCommand(d, action, c.Parameters)
	if err == nil && changed {
		d, err = h.storeChange(i, action, c.Parameters)
	}
	if err != nil {
		return Outcome{}, err
	}
	h.counters.commands[action].Add(1)
	return Outcome{ID: d.ID, Action: action, State: d.State}, nil
}

// storeChange stores a new list with the changed device at index i. Another command may have changed it since,
// so it reads the device under the lock.
func (h *House) storeChange(i int, action string, parameters map[string]any) (Device, error) {
	h.changeMu.Lock()
	defer h.changeMu.Unlock()
	current := h.Devices()
	d, changed, err := applyCommand(current[i], action, parameters)
	if err != nil || !changed {
		return d, err
	}
	if h.now != nil {
		d.LastUpdated = h.now().UTC()
	}
	list := slices.Clone(current)
	list[i] = d
	h.devices.Store(&list)
	return d, nil
}

func allActions() [4]string { return [...]string{turnOn, turnOff, toggle, set} }

// canonicalAction returns the constant that equals action. ok is false for an unknown action. Some servers
// reuse a request's buffer, so action itself must not be retained.
func canonicalAction(action string) (canonical string, ok bool) {
	actions := allActions()
	if i := slices.Index(actions[:], action); i >= 0 {
		return actions[i], true
	}
	return "", false
}

func isReadOnly(d Device) bool { return d.Type == "sensor" || d.Type == "binary_sensor" }

// applyCommand returns d after a command. action is one of allActions. It does not modify d.
func applyCommand(d Device, action string, parameters map[string]any) (after Device, changed bool, err error) {
	state := d.State
	switch action {
	case turnOn:
		state = on
	case turnOff:
		state = off
	case toggle:
		if d.State == on {
			state = off
		} else {
			state = on
		}
	case set:
		return mergeAttributes(d, parameters)
	}
	changed = state != d.State
	d.State = state
	return d, changed, nil
}

func mergeAttributes(d Device, parameters map[string]any) (after Device, changed bool, err error) {
	for name, value := range parameters {
		old, ok := d.Attributes[name]
		changed = changed || !ok || !sameValue(old, value)
	}
	if !changed {
		return d, false, nil
	}
	attributes := maps.Clone(d.Attributes)
	for name, value := range parameters {
		attributes[strings.Clone(name)] = copyValue(value)
	}
	if len(attributes) > maxAttributes {
		return d, false, tooManyAttributes()
	}
	d.Attributes = attributes
	return d, true, nil
}

// sameValue reports whether a and b are the same JSON value. Decoders use different Go types for numbers, so it
// compares numbers by value.
func sameValue(a, b any) bool {
	x, aIsNumber := toNumber(a)
	y, bIsNumber := toNumber(b)
	if aIsNumber && bIsNumber {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

func toNumber(v any) (number float64, ok bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// copyValue returns a deep copy. Some decoders return strings in the request's buffer, which the server
// reuses.
func copyValue(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case json.Number:
		return json.Number(strings.Clone(string(v)))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = copyValue(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, value := range v {
			m[strings.Clone(name)] = copyValue(value)
		}
		return m
	}
	return v
}
