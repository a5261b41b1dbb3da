package sink

import (
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

func TestParseTargets(t *testing.T) {
	list, err := ParseTargets("tee:file:a,b.ndjson,http+ndjson://u:secret@h:80/p?key=secret&x=1,2#batch=5&bytes=100&age=2s&gzip=on,null")
	assert.NoError(t, "parse", err)
	assert.Equal(t, "sinks", len(list), 3)
	assert.Equal(t, "file", list[0].String(), "file:a,b.ndjson")
	web := list[1]
	assert.Equal(t, "limits", web.Limits, Limits{Events: 5, Bytes: 100, Age: 2 * time.Second})
	assert.Equal(t, "query", web.URL.RawQuery, "key=secret&x=1,2")
	assert.Equal(t, "option", web.Options["gzip"], "on")
	assert.Equal(t, "text", web.String(), "http+ndjson://h:80/p?…")
	assert.Equal(t, "null", list[2].String(), "null")
	for _, text := range []string{web.String(), web.Name()} {
		if strings.Contains(text, "secret") {
			t.Errorf("%q has the secret", text)
		}
	}
}

// The name is that of the place, not of settings and secrets: a cursor goes by
// it.
func TestTargetName(t *testing.T) {
	name := func(text string) string {
		list, err := ParseTargets(text)
		assert.NoError(t, text, err)
		return list[0].Name()
	}
	assert.Equal(t, "same", name("kafka://u:p@h:9092/topic#batch=5"), name("kafka://h:9092/topic"))
	if name("kafka://h:9092/topic") == name("kafka://h:9092/other") {
		t.Error("two places have one name")
	}
	assert.Contains(t, "name", name("http+bulk://h/i"), "http-bulk-")
}

func TestTargetsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "not among",
		"http://h/p":                    "not among",
		"amqp://u:secret@h":             "…@h",
		"kafka:":                        "names no host",
		"http+json://h#batch=0":         "from 1",
		"http+json://h#batch=x":         "invalid syntax",
		"http+json://h#bytes=-1":        "from 1",
		"http+json://h#age=2h":          "from 0 to 1h",
		"http+json://h#dedup=off":       "no such setting",
		"http+json://h#%zz":             "is no URL",
		"http+json://h\x00":             "is no URL",
		"tee:null,null":                 "named twice",
		"tee:kafka://h/a,kafka://h/a#k": "no such setting",
	} {
		_, err := ParseTargets(text)
		assert.ErrorContains(t, text, err, want)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%v has the secret", err)
		}
	}
	list, err := ParseTargets("http+json://h#timeout=x&gzip=maybe")
	assert.NoError(t, "parse", err)
	_, err = list[0].Timeout()
	assert.ErrorContains(t, "timeout", err, "no duration")
	_, err = list[0].On("gzip", false)
	assert.ErrorContains(t, "gzip", err, "neither on nor off")
}

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

// traced is an event of a trace; empty: of none.
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

func TestFlat(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"a","timestamp":"t","metadata":{"b":{"c":1}}}`: `{"id":"a","timestamp":"t","b":{"c":1}}`,
		`{"id":"a","timestamp":"t","metadata":{}}`:            `{"id":"a","timestamp":"t"}`,
		`{"id":"a"}`:                  `{"id":"a"}`,
		`{"id":"a","metadata":{"b":1`: `{"id":"a","metadata":{"b":1`,
	} {
		assert.Equal(t, line, string(Flat(nil, []byte(line))), want)
	}
}

func TestPromise(t *testing.T) {
	p := Promise{To: "x", Sent: "written"}
	assert.Equal(t, "at least once", p.String(), "sent on at least once to x, duplicates possible after a crash; sent = written")
	p.Once, p.Order = "the id", "by key"
	assert.Equal(t, "exactly once", p.String(), "sent on exactly once to x, as long as it knows the id again; sent = written; order: by key")
}
