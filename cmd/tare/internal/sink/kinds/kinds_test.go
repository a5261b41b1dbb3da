package kinds

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/golden"
)

// sampleURL returns a URL of a kind, with secrets if it has a host.
func sampleURL(t *testing.T, k sink.Kind) string {
	if scheme, _, ok := strings.Cut(k.Form, "://"); ok {
		return scheme + "://u:secret@127.0.0.1:1/p?k=secret"
	}
	return strings.Replace(k.Form, "PATH", filepath.Join(t.TempDir(), "e"), 1)
}

// openAll opens a sink of each kind, and closes them when the test ends.
func openAll(t *testing.T) map[string]sink.Sink {
	sinks := map[string]sink.Sink{}
	for _, k := range All() {
		list, err := All().Parse(sampleURL(t, k))
		assert.NoError(t, "parse", err)
		one, err := list[0].Open(sink.Settings{Now: time.Now})
		assert.NoError(t, "open", err)
		t.Cleanup(func() { assert.NoError(t, "close", one.Sink.Close()) })
		sinks[k.Scheme()] = one.Sink
	}
	return sinks
}

// Each kind of sink has a promise that contains no secrets, and opens while its destination cannot
// be reached.
func TestPromises(t *testing.T) {
	for scheme, s := range openAll(t) {
		text := s.Promise().String()
		if strings.Contains(text, "secret") || !strings.Contains(text, "sent on") || strings.Contains(text, "\n") {
			t.Errorf("%s: %q", scheme, text)
		}
	}
}

// All lists the kinds of every package of sinks, and the first kind of a scheme hides no other one.
func TestEveryPackageIsListed(t *testing.T) {
	list, err := os.ReadFile("kinds.go")
	assert.NoError(t, "list", err)
	sources, err := filepath.Glob(filepath.Join("..", "*", "*.go"))
	assert.NoError(t, "packages", err)
	for _, path := range sources {
		source, err := os.ReadFile(path)
		assert.NoError(t, "source", err)
		name := filepath.Base(filepath.Dir(path))
		isSink := strings.Contains(string(source), "sink.Kind{") || strings.Contains(string(source), "sink.Kinds{")
		if isSink && !strings.HasSuffix(path, "_test.go") && !strings.Contains(string(list), "sink/"+name+`"`) {
			t.Errorf("%s is not in All", name)
		}
	}
	schemes := slices.Sorted(slices.Values(All().Schemes()))
	assert.Equal(t, "schemes", len(slices.Compact(slices.Clone(schemes))), len(schemes))
}

// The package of each sink runs the conformance suite.
func TestEverySinkIsTested(t *testing.T) {
	for scheme, s := range openAll(t) {
		kind := reflect.TypeOf(s)
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		files, err := filepath.Glob(filepath.Join("..", filepath.Base(kind.PkgPath()), "*_test.go"))
		assert.NoError(t, "files", err)
		if !slices.ContainsFunc(files, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(text), "sinktest.Run(")
		}) {
			t.Errorf("%s: no test of package %s calls sinktest.Run", scheme, kind.PkgPath())
		}
	}
}

// Each kind rejects an option that it does not have, and one that has a host takes those
// that all of these have.
func TestOptions(t *testing.T) {
	for _, k := range All() {
		url := sampleURL(t, k)
		if url == k.Scheme() {
			continue // it takes none
		}
		_, err := All().Parse(url + "#nonsense=on")
		assert.ErrorContains(t, url, err, "no such setting; there are batch, bytes, age")
		if strings.Contains(k.Form, "://") {
			_, err = All().Parse(url + "#timeout=1s&hold=off")
			assert.NoError(t, url, err)
		}
	}
}

// The table of docs/services.md says what the sinks do.
func TestDocsAreCurrent(t *testing.T) {
	const begin, end = "<!-- sinks:begin -->\n", "<!-- sinks:end -->"
	table := "| sink | sent means | finds duplicates by | rejects permanently |\n|---|---|---|---|\n"
	sinks := openAll(t)
	for _, k := range All() {
		if k.Help == "" {
			continue
		}
		p := sinks[k.Scheme()].Promise()
		once := cmp.Or(p.Once, "nothing: they arrive twice")
		table += "| `" + k.Form + "` | " + p.Sent + " | " + once + " | " + k.Poison + " |\n"
	}
	path := filepath.Join("..", "..", "..", "..", "..", "docs", "services.md")
	text, err := os.ReadFile(path)
	assert.NoError(t, "read", err)
	before, rest, found := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), begin)
	got, after, closed := strings.Cut(rest, end)
	assert.Equal(t, "markers of the table", found && closed, true)
	if golden.Updating() {
		assert.NoError(t, "write", os.WriteFile(path, []byte(before+begin+table+end+after), 0o644))
	} else if got != table {
		t.Errorf("docs/services.md is not what the sinks say: go generate ./internal/sink/kinds")
	}
}

func TestParse(t *testing.T) {
	list, err := All().Parse("tee:file:a,b.ndjson,http+ndjson://u:secret@h:80/p?key=secret&x=1,2#batch=5&bytes=100&age=2s&gzip=on,null")
	assert.NoError(t, "parse", err)
	assert.Equal(t, "sinks", len(list), 3)
	assert.Equal(t, "file", list[0].String(), "file:a,b.ndjson")
	far := list[1]
	assert.Equal(t, "limits", far.Limits, sink.Limits{Events: 5, Bytes: 100, Age: 2 * time.Second})
	assert.Equal(t, "query", far.URL.RawQuery, "key=secret&x=1,2")
	assert.Equal(t, "option", far.Options["gzip"], "on")
	assert.Equal(t, "text", far.String(), "http+ndjson://h:80/p?…")
	assert.Equal(t, "null", list[2].String(), "null")
	for _, text := range []string{far.String(), far.Name()} {
		if strings.Contains(text, "secret") {
			t.Errorf("%q has the secret", text)
		}
	}
}

// The name depends on the place only, not on settings and secrets, because the file of a cursor is
// named after it.
func TestTargetName(t *testing.T) {
	name := func(text string) string {
		list, err := All().Parse(text)
		assert.NoError(t, text, err)
		return list[0].Name()
	}
	assert.Equal(t, "same", name("kafka://u:p@h:9092/topic#batch=5"), name("kafka://h:9092/topic"))
	if name("kafka://h:9092/topic") == name("kafka://h:9092/other") {
		t.Error("two places have one name")
	}
	assert.Contains(t, "name", name("http+bulk://h/i"), "http-bulk-")
}

func TestInvalidTargets(t *testing.T) {
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
		_, err := All().Parse(text)
		assert.ErrorContains(t, text, err, want)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%v has the secret", err)
		}
	}
	for url, want := range map[string]string{
		"http+json://h#timeout=x": "no duration", "http+json://h#gzip=maybe": "neither on nor off", "http+json://h#hold=maybe": "neither on nor off",
		"http+clickhouse://h/t#dedup=maybe": "neither on nor off", "file:e#fsync=maybe": "neither on nor off",
	} {
		list, err := All().Parse(url)
		assert.NoError(t, "parse", err)
		_, err = list[0].Open(sink.Settings{})
		assert.ErrorContains(t, url, err, want)
	}
}
