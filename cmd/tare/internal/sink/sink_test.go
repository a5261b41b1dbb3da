package sink

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

func TestEventID(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"a","timestamp":"t","metadata":{}}`: `"a"`,
		`{"id":"a\"b\\","x":1}`:                    `"a\"b\\"`,
		`{"id":"","x":1}`:                          `""`,
		`{"id":"open`:                              "",
		`{"id":"open\`:                             "",
		`{"x":1}`:                                  "",
		``:                                         "",
	} {
		got, err := EventID([]byte(line))
		assert.Equal(t, line, string(got), want)
		assert.Equal(t, line+": error", err != nil, want == "")
	}
}

const aTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// traced returns an event with the given trace, or without one if trace is empty.
func traced(id, trace string) Event {
	if trace != "" {
		trace = `,"traceparent":"` + trace + `"`
	}
	return Event{Line: []byte(`{"id":"` + id + `","timestamp":"2026-11-02T15:04:05Z"` + trace + `,"metadata":{}}`)}
}

func TestTraceparent(t *testing.T) {
	for line, want := range map[string]string{
		string(traced("a", aTrace).Line):                            aTrace,
		string(traced(`a\"b`, aTrace).Line):                         aTrace,
		string(traced("a", "").Line):                                "",
		`{"id":"a","timestamp":"t"`:                                 "",
		`{"id":"a","timestamp":"t","metadata":{"traceparent":"x"}}`: "",
		`{"id":"a","x":1}`:                                          "",
		``:                                                          "",
	} {
		assert.Equal(t, line, Traceparent([]byte(line)), want)
	}
	other := strings.Replace(aTrace, "4", "5", 1)
	for name, c := range map[string]struct {
		events []Event
		want   string
	}{
		"one":          {[]Event{traced("a", aTrace)}, aTrace},
		"the same":     {[]Event{traced("a", aTrace), traced("b", aTrace)}, aTrace},
		"two":          {[]Event{traced("a", aTrace), traced("b", other)}, ""},
		"one has none": {[]Event{traced("a", aTrace), traced("b", "")}, ""},
		"none":         {[]Event{traced("a", ""), traced("b", "")}, ""},
	} {
		assert.Equal(t, name, Batch{Events: c.events}.Traceparent(), c.want)
	}
}

func TestAppendFlat(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"a","timestamp":"t","metadata":{"b":{"c":1}}}`: `{"id":"a","timestamp":"t","b":{"c":1}}`,
		`{"id":"a","timestamp":"t","metadata":{}}`:            `{"id":"a","timestamp":"t"}`,
		`{"id":"a"}`:                  `{"id":"a"}`,
		`{"id":"a","metadata":{"b":1`: `{"id":"a","metadata":{"b":1`,
	} {
		assert.Equal(t, line, string(AppendFlat(nil, []byte(line))), want)
	}
}

func TestPromise(t *testing.T) {
	p := Promise{To: "x", Sent: "written"}
	assert.Equal(t, "at least once", p.String(), "sent on at least once to x, duplicates possible after a crash; sent = written")
	p.Once, p.Order = "the id", "by key"
	assert.Equal(t, "exactly once", p.String(), "sent on exactly once to x, which finds duplicates by the id; sent = written; order: by key")
}
