package homelab

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
)

// States of a device that can be turned on and off, and actions of a command.
const (
	on  = "on"
	off = "off"

	turnOn  = "turn_on"
	turnOff = "turn_off"
	toggle  = "toggle"
	set     = "set"
)

// maxAttributes bounds the attributes of a device.
const maxAttributes = 64

// Command applies a command to a device: it is turned on or off, or the parameters are merged into
// its attributes. Errors of the command itself come first, then an unknown device, then a read-only
// one. A command that changes nothing leaves the device as it is, its time too. Nothing of c is
// retained.
func (h *House) Command(id string, c Command) (Outcome, error) {
	action, ok := canonicalAction(c.Action)
	if !ok {
		return Outcome{}, unknownAction(c.Action)
	}
	i, ok := h.places[id]
	if !ok {
		return Outcome{}, noDevice(id)
	}
	d := h.Devices()[i]
	if isReadOnly(d) {
		return Outcome{}, readOnlyDevice(d)
	}
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

// storeChange puts a device in its new state into a new list. Another command may have changed it
// by now, so it is read again.
func (h *House) storeChange(i int, action string, parameters map[string]any) (Device, error) {
	h.change.Lock()
	defer h.change.Unlock()
	former := h.Devices()
	d, changed, err := applyCommand(former[i], action, parameters)
	if err != nil || !changed {
		return d, err
	}
	if h.now != nil {
		d.LastUpdated = h.now().UTC()
	}
	list := make([]Device, len(former))
	copy(list, former)
	list[i] = d
	h.devices.Store(&list)
	return d, nil
}

func allActions() [4]string { return [...]string{turnOn, turnOff, toggle, set} }

// canonicalAction returns the package's string of an action: that of a client may be in a buffer of
// its server.
func canonicalAction(action string) (string, bool) {
	for _, a := range allActions() {
		if action == a {
			return a, true
		}
	}
	return "", false
}

func isReadOnly(d Device) bool { return d.Type == "sensor" || d.Type == "binary_sensor" }

// applyCommand returns d after a command, and whether that differs from d.
func applyCommand(d Device, action string, parameters map[string]any) (Device, bool, error) {
	state := d.State
	switch action {
	case turnOn:
		state = on
	case turnOff:
		state = off
	case toggle:
		if state = on; d.State == on {
			state = off
		}
	case set:
		return mergeAttributes(d, parameters)
	}
	changed := state != d.State
	d.State = state
	return d, changed, nil
}

func mergeAttributes(d Device, parameters map[string]any) (Device, bool, error) {
	changed := false
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

// sameValue reports whether two values are the same as JSON, whichever decoder made them.
func sameValue(a, b any) bool {
	x, isNumber := toNumber(a)
	y, areNumbers := toNumber(b)
	if isNumber && areNumbers {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

func toNumber(v any) (float64, bool) {
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

// copyValue returns a copy of a JSON value. Some decoders make strings that point into the body
// they read, which their server will use for another request.
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
