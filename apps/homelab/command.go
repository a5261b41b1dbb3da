package homelab

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

const (
	// States of a device that can be turned on and off.
	on  = "on"
	off = "off"

	// Actions of a command.
	turnOn  = "turn_on"
	turnOff = "turn_off"
	toggle  = "toggle"
	set     = "set"
)

// maxAttributes is the largest number of attributes of a device. It bounds the memory that clients
// can fill with commands.
const maxAttributes = 64

// Command applies a command to the device with an id: it turns the device on or off, or merges the
// parameters into the attributes of the device. If several errors apply, Command reports an unknown action
// before an unknown device, and an unknown device before a read-only one. A command that changes nothing
// leaves LastUpdated unchanged. The house does not retain strings or values of c.
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
	// Check first without the lock of storeChange: a command that changes nothing does not need it.
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

// storeChange applies a command to the device at index i and stores a new list with the changed
// device. It reads the device again under the lock, because another command may have changed it
// since the caller read it.
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

// canonicalAction returns the constant that equals action, or false for an unknown action. The house must
// not retain action itself, because some servers reuse the buffer of a request.
func canonicalAction(action string) (canonical string, ok bool) {
	actions := allActions()
	if i := slices.Index(actions[:], action); i >= 0 {
		return actions[i], true
	}
	return "", false
}

// isReadOnly reports whether a device accepts no commands.
func isReadOnly(d Device) bool { return d.Type == "sensor" || d.Type == "binary_sensor" }

// applyCommand returns d as it is after a command, and whether the command changes d. action is one
// of allActions. The attributes of d itself are not modified.
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

// mergeAttributes returns d with the parameters set as attributes, and whether any of them is new or
// has a new value.
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

// sameValue reports whether a and b are the same JSON value. Decoders differ in the Go types that
// they use for numbers, so numbers are compared by value.
func sameValue(a, b any) bool {
	x, aIsNumber := toNumber(a)
	y, bIsNumber := toNumber(b)
	if aIsNumber && bIsNumber {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

// toNumber returns v as a float64, or false if v is not a number of a JSON decoder.
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

// copyValue returns a deep copy of a JSON value. Some decoders return strings that point into the
// request's body, whose buffer the server reuses for the next request.
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
