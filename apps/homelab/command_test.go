package homelab_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/tarebench/tare/apps/homelab"
)

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		id, command string
		state       string // afterwards
		attribute   string // brightness afterwards, as JSON
		changes     bool
	}{
		{"light.desk", `{"action":"turn_on"}`, "on", "128", true},
		{"light.desk", `{"action":"turn_off"}`, "off", "128", false},
		{"light.desk", `{"action":"toggle","parameters":{"brightness":1}}`, "on", "128", true},
		{"switch.fan", `{"action":"toggle"}`, "off", "null", true},
		{"switch.fan", `{"action":"turn_on"}`, "on", "null", false},
		{"light.desk", `{"action":"set","parameters":{"brightness":40}}`, "off", "40", true},
		{"light.desk", `{"action":"set","parameters":{"brightness":128}}`, "off", "128", false},
		{"light.desk", `{"action":"set","parameters":{"brightness":"128"}}`, "off", `"128"`, true},
		{"light.desk", `{"action":"set","parameters":{"brightness":null}}`, "off", "null", true},
		{"light.desk", `{"action":"set","parameters":{"colour":null}}`, "off", "128", true},
		{"light.desk", `{"action":"set","parameters":{"tags":["a",{"b":null}]}}`, "off", "128", false},
		{"light.desk", `{"action":"set","parameters":{"tags":["a",{"b":0}]}}`, "off", "128", true},
		{"light.desk", `{"action":"set","parameters":{}}`, "off", "128", false},
		{"light.desk", `{"action":"set","parameters":null}`, "off", "128", false},
		{"light.desk", `{"action":"set"}`, "off", "128", false},
	} {
		later := start().Add(time.Hour)
		h := newHouse(t, homelab.Config{Now: func() time.Time { return later.Local() }})
		before := h.Devices()
		var command homelab.Command
		if err := json.Unmarshal([]byte(c.command), &command); err != nil {
			t.Fatal(err)
		}
		got, err := h.Command(c.id, command)
		if want := (homelab.Outcome{ID: c.id, Action: command.Action, State: c.state}); err != nil || got != want {
			t.Errorf("%s %s: %+v, %v, want %+v", c.id, c.command, got, err, want)
		}
		d, _ := h.Device(c.id)
		if brightness, _ := json.Marshal(d.Attributes["brightness"]); d.State != c.state || string(brightness) != c.attribute {
			t.Errorf("%s %s: %+v", c.id, c.command, d)
		}
		switch {
		case c.changes && d.LastUpdated != later:
			t.Errorf("%s %s: last updated at %v", c.id, c.command, d.LastUpdated)
		case !c.changes && (d.LastUpdated != start() || &before[0] != &h.Devices()[0]):
			t.Errorf("%s %s changes nothing, but there is a new state", c.id, c.command)
		}
	}
}

func TestCommandRefuses(t *testing.T) {
	h := newHouse(t, homelab.Config{Now: start})
	many := map[string]any{}
	for i := range 64 {
		many[fmt.Sprint(i)] = i
	}
	for _, c := range []struct {
		id      string
		command homelab.Command
		status  int
		code    string
	}{
		{"light.desk", homelab.Command{}, 400, "unknown_action"},
		{"light.desk", homelab.Command{Action: "TURN_ON"}, 400, "unknown_action"},
		{"light.desk", homelab.Command{Action: strings.Repeat("x", 1<<16)}, 400, "unknown_action"},
		{"light.desk", homelab.Command{Action: "set", Parameters: many}, 400, "too_many_attributes"},
		{"sensor.door", homelab.Command{Action: "burn"}, 400, "unknown_action"},
		{"nothing", homelab.Command{Action: "burn"}, 400, "unknown_action"},
		{"nothing", homelab.Command{Action: "turn_on"}, 404, "unknown_device"},
		{"", homelab.Command{Action: "turn_on"}, 404, "unknown_device"},
		{"sensor.door", homelab.Command{Action: "turn_on"}, 405, "read_only"},
		{"binary_sensor.rain", homelab.Command{Action: "set"}, 405, "read_only"},
	} {
		before := h.Devices()
		_, err := h.Command(c.id, c.command)
		if r := refusal(t, h, err); r.Status != c.status || r.Code != c.code || len(r.Message) > 200 || strings.Contains(r.Message, "\n") {
			t.Errorf("%s %.20s: %+v, want %d %s", c.id, c.command.Action, r, c.status, c.code)
		}
		if &before[0] != &h.Devices()[0] {
			t.Errorf("%s %.20s: refused, and carried out", c.id, c.command.Action)
		}
	}
}

// Numbers are the same whichever decoder made them.
func TestSetNumbers(t *testing.T) {
	h := newHouse(t, homelab.Config{Now: func() time.Time { return start().Add(time.Hour) }})
	for _, v := range []any{128.0, 128, int64(128), uint64(128), json.Number("128"), json.Number("1.28e2")} {
		if _, err := h.Command("light.desk", homelab.Command{Action: "set", Parameters: map[string]any{"brightness": v}}); err != nil {
			t.Fatal(err)
		}
		if d, _ := h.Device("light.desk"); d.LastUpdated != start() {
			t.Errorf("%T: changed", v)
		}
	}
	if _, err := h.Command("light.desk", homelab.Command{Action: "set", Parameters: map[string]any{"brightness": json.Number("no")}}); err != nil {
		t.Fatal(err)
	}
	if d, _ := h.Device("light.desk"); d.LastUpdated == start() {
		t.Error("another number, and nothing changed")
	}
}

// Some decoders make strings that live in the body's buffer, which is used
// again for the next request. Nothing of it is kept.
func TestCommandKeepsNothing(t *testing.T) {
	h := newHouse(t, homelab.Config{})
	buffer := []byte("light.desk set name text deep list")
	part := func(word string) string {
		i := strings.Index(string(buffer), word)
		return unsafe.String(&buffer[i], len(word))
	}
	got, err := h.Command(part("light.desk"), homelab.Command{Action: part("set"), Parameters: map[string]any{
		part("name"): part("text"),
		"inner":      map[string]any{part("deep"): []any{part("list"), json.Number(part("text"))}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range buffer {
		buffer[i] = '#'
	}
	d, err := h.Device("light.desk")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"inner": map[string]any{"deep": []any{"list", json.Number("text")}}, "name": "text", "brightness": 128.0, "tags": devices()[0].Attributes["tags"]}
	if !reflect.DeepEqual(d.Attributes, want) || got != (homelab.Outcome{ID: "light.desk", Action: "set", State: "off"}) {
		t.Errorf("%+v %+v", got, d.Attributes)
	}
}

// Whatever is commanded, by any JSON: it is carried out or refused, a second time changes nothing
// more unless it is a toggle, and what is kept can be written as JSON and is bounded.
func FuzzCommand(f *testing.F) {
	f.Add("light.desk", []byte(`{"action":"turn_on"}`))
	f.Add("switch.fan", []byte(`{"action":"toggle","parameters":{"a":[1,"x",{"y":null}]}}`))
	f.Add("light.desk", []byte(`{"action":"set","parameters":{"brightness":1e308,"":{"a":[[]]}}}`))
	f.Add("sensor.door", []byte(`{"action":"set"}`))
	f.Fuzz(func(t *testing.T, id string, body []byte) {
		var c homelab.Command
		if json.Unmarshal(body, &c) != nil {
			return
		}
		h, err := homelab.New(homelab.Config{}, devices())
		if err != nil {
			t.Fatal(err)
		}
		first, err := h.Command(id, c)
		if err != nil {
			var r *homelab.Refusal
			if !errors.As(err, &r) || r.Status < 400 || r.Status > 405 {
				t.Fatalf("%v", err)
			}
			return
		}
		after := h.Devices()
		second, err := h.Command(id, c)
		if err != nil {
			t.Fatalf("once more: %v", err)
		}
		if same := first == second && &after[0] == &h.Devices()[0]; same == (c.Action == "toggle") {
			t.Fatalf("%s twice: %+v, then %+v", c.Action, first, second)
		}
		d, err := h.Device(id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(d); err != nil || len(d.Attributes) > 64 {
			t.Fatalf("%d attributes, %v", len(d.Attributes), err)
		}
	})
}
