package web

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/internal/assert"
)

func events(n int) sink.Batch {
	b := sink.Batch{}
	for range n {
		b.Events = append(b.Events, sink.Event{Line: []byte(`{"id":"a"}`)})
	}
	return b
}

// Answers that do not account for each event are errors: the batch is sent
// again.
func TestAnswersThatAreNone(t *testing.T) {
	for _, answer := range []string{
		"", "{}", "<html>", `{"errors":false}`, `{"errors":false,"items":[]}`, `{"errors":false,"items":[{}]}`,
		`{"errors":true,"items":[{"create":{"status":201}},{"create":{"status":201}}]}`,
	} {
		_, err := bulk{}.read([]byte(answer), nil, events(1))
		assert.Equal(t, answer, err != nil, true)
	}
	for _, answer := range []string{"", "{}", `{"kind":"bigquery#tableDataInsertAllResponse","insertErrors":[{"index":1}]}`} {
		_, err := bigQuery{}.read([]byte(answer), nil, events(1))
		assert.Equal(t, answer, err != nil, true)
	}
	_, err := clickHouse{}.read([]byte("Code: 241, e.displayText() = memory"), nil, events(1))
	assert.ErrorContains(t, "exception behind a status of 200", err, "Code: 241")
}

// Of an answer without an end only so much is read, and the batch is sent again.
func TestEndlessAnswer(t *testing.T) {
	sent := 0
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for some := bytes.Repeat([]byte(" "), 1<<20); ; sent++ {
			if _, err := w.Write(some); err != nil {
				return
			}
		}
	}))
	defer far.Close()
	w := open(t, strings.Replace(far.URL, "http://", "http+bulk://", 1)+"/events")
	_, err := w.Send(t.Context(), events(1))
	assert.Equal(t, "an error", err != nil, true)
	far.Close()
	if sent > 2*mostAnswer>>20 {
		t.Errorf("%d MiB were taken", sent)
	}
}

// An item's status without a known meaning is no success.
func TestBulkStatuses(t *testing.T) {
	for status, want := range map[string]sink.Result{
		"201": {}, "409": {}, "429": {Again: []int{0}}, "503": {Again: []int{0}}, "0": {Again: []int{0}}, "302": {Again: []int{0}},
		"400": {Dead: []sink.Dead{{Index: 0, Reason: "400 t: r"}}}, "404": {Dead: []sink.Dead{{Index: 0, Reason: "404 t: r"}}},
	} {
		got, err := bulk{}.read([]byte(`{"errors":true,"items":[{"create":{"status":`+status+`,"error":{"type":"t","reason":"r"}}}]}`), nil, events(1))
		assert.NoError(t, status, err)
		assert.Equal(t, status+" again", len(got.Again), len(want.Again))
		assert.Slices(t, status, got.Dead, want.Dead)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 2, 15, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{"3": 3 * time.Second, "Mon, 02 Nov 2026 15:01:00 GMT": time.Minute, "Mon, 02 Nov 2026 14:00:00 GMT": 0} {
		got, ok := retryAfter(text, now)
		assert.Equal(t, text, ok, true)
		assert.Equal(t, text, got, want)
	}
	for _, text := range []string{"", "-1", "soon"} {
		_, ok := retryAfter(text, now)
		assert.Equal(t, text, ok, false)
	}
}

func TestAuthorization(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	assert.NoError(t, "write", os.WriteFile(path, []byte("file\n"), 0o600))
	for text, want := range map[string]string{
		"http+json://h":                          "Bearer given",
		"http+json://u:p@h":                      "Basic dTpw",
		"http+json://h#token-file=" + path:       "Bearer file",
		"http+json://h#token-file=" + path + ".": "",
	} {
		list, err := sink.ParseTargets(text)
		assert.NoError(t, text, err)
		got, _ := authorization(list[0], "given")()
		assert.Equal(t, text, got, want)
	}
}

func TestClickHouseAddress(t *testing.T) {
	w := open(t, "http+clickhouse://h:8123/db/events?async_insert=1&wait_for_async_insert=0")
	b := events(2)
	address := w.dialect.address(w.url, b)
	q := address.Query()
	assert.Equal(t, "query", q.Get("query"), "INSERT INTO db.events FORMAT JSONEachRow")
	assert.Equal(t, "theirs wins", q.Get("wait_for_async_insert"), "0")
	assert.Equal(t, "token", q.Get("insert_deduplication_token"), b.Name())
	assert.Equal(t, "path", address.Path, "/")
	old := open(t, "http+clickhouse://h/t#dedup=off")
	address = old.dialect.address(old.url, b)
	assert.Equal(t, "old", address.Query().Has("insert_deduplication_token"), false)
	list, err := sink.ParseTargets("http+clickhouse://h/a;b")
	assert.NoError(t, "parse", err)
	_, err = New(list[0], Config{})
	assert.ErrorContains(t, "table", err, "neither /TABLE")
}

// Secrets of URLs do not come into logs.
func TestErrorsHaveNoURL(t *testing.T) {
	w := open(t, "http+json://u:secret@127.0.0.1:1/p?key=secret")
	_, err := w.Send(t.Context(), events(1))
	assert.ErrorContains(t, "refused", err, "connect")
	for _, text := range []string{err.Error(), w.Promise().String()} {
		if strings.Contains(text, "secret") {
			t.Errorf("%q", text)
		}
	}
}

func TestWhatIsAboutTheContent(t *testing.T) {
	c := clickHouse{}
	assert.Equal(t, "parse error", c.refuses(500, nil, []byte("Code: 27, e.displayText()")), true)
	assert.Equal(t, "header", c.refuses(400, http.Header{http.CanonicalHeaderKey(exceptionHeader): {"117"}}, nil), true)
	assert.Equal(t, "memory", c.refuses(500, nil, []byte("Code: 241, e.displayText()")), false)
	o := ordinary{}
	assert.Equal(t, "401", o.refuses(401, nil, nil), false)
	assert.Equal(t, "404", o.refuses(404, nil, nil), false)
	assert.Equal(t, "422", o.refuses(422, nil, nil), true)
}
