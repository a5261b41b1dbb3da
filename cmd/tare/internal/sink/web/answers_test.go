package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/internal/assert"
)

func events(n int) sink.Batch {
	b := sink.Batch{}
	for range n {
		b.Events = append(b.Events, sink.Event{Line: []byte(`{"id":"a"}`)})
	}
	return b
}

// An answer that does not account for each event is an error, so that the batch is sent again.
func TestAnswersThatAreNone(t *testing.T) {
	for _, answer := range []string{
		"", "{}", "<html>", `{"errors":false}`, `{"errors":false,"items":[]}`, `{"errors":false,"items":[{}]}`,
		`{"errors":true,"items":[{"create":{"status":201}},{"create":{"status":201}}]}`,
	} {
		_, err := bulk{}.readResponse([]byte(answer), nil, events(1))
		assert.Equal(t, answer, err != nil, true)
	}
	for _, answer := range []string{"", "{}", `{"kind":"bigquery#tableDataInsertAllResponse","insertErrors":[{"index":1}]}`} {
		_, err := bigQuery{}.readResponse([]byte(answer), nil, events(1))
		assert.Equal(t, answer, err != nil, true)
	}
	_, err := clickHouse{}.readResponse([]byte("Code: 241, e.displayText() = memory"), nil, events(1))
	assert.ErrorContains(t, "exception behind a status of 200", err, "Code: 241")
}

// Only the beginning of an answer without an end is read, and the batch is sent again.
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
	if sent > 2*maxResponse>>20 {
		t.Errorf("%d MiB were taken", sent)
	}
}

// An item is dead if its status refuses the document. It is sent again if the status refuses the
// token, the index or the server, or has no known meaning.
func TestBulkStatuses(t *testing.T) {
	const done, again, dead = "done", "again", "dead"
	for item, want := range map[string]string{
		"201": done, "409 version_conflict_engine_exception: exists": done,
		"429 es_rejected_execution_exception: busy": again, "503 unavailable_shards_exception: away": again, "0": again, "302": again,
		"400 mapper_parsing_exception: r":                                                dead,
		"400 document_parsing_exception: r":                                              dead,
		"400 strict_dynamic_mapping_exception: r":                                        dead,
		"400 illegal_argument_exception: Limit of total fields [1000] has been exceeded": dead,
		"400 t: r": dead, "413 t: r": dead,
		"401 security_exception: missing authentication credentials":                   again,
		"403 security_exception: action is unauthorized":                               again,
		"403 cluster_block_exception: index read-only":                                 again,
		"404 index_not_found_exception: no such index":                                 again,
		"400 invalid_index_name_exception: must be lowercase":                          again,
		"400 index_closed_exception: closed":                                           again,
		"400 illegal_argument_exception: no write index is defined for alias [events]": again,
		"400 illegal_argument_exception: pipeline with id [p] does not exist":          again,
	} {
		status, rest, _ := strings.Cut(item, " ")
		kind, reason, _ := strings.Cut(rest, ": ")
		const sound = `{"create":{"status":201}}`
		of := func(second string) string {
			return `{"errors":true,"items":[{"create":{"status":` + status + `,"error":{"type":"` + kind + `","reason":"` + reason + `"}}},` + second + `]}`
		}
		got, err := bulk{}.readResponse([]byte(of(sound)), nil, events(2))
		assert.NoError(t, item, err)
		switch want {
		case done:
			assert.Equal(t, item, len(got.Dead)+len(got.Again), 0)
		case again:
			assert.Slices(t, item, got.Again, []int{0})
			assert.Equal(t, item+", dead", len(got.Dead), 0)
		case dead:
			assert.Slices(t, item, got.Dead, []sink.Dead{{Index: 0, Reason: item}})
			assert.Equal(t, item+", again", len(got.Again), 0)
		}
	}
	for status, ails := range map[int]bool{403: false, 429: false, 500: true, 503: true} {
		got, err := bulk{}.readResponse(fmt.Appendf(nil, `{"errors":true,"items":[{"create":{"status":%d,"error":{"type":"t","reason":"no"}}}]}`, status), nil, events(1))
		assert.NoError(t, "all are to be sent again", err)
		assert.Slices(t, "all are to be sent again", got.Again, []int{0})
		assert.Equal(t, "cause", got.Why, fmt.Sprintf("an item has %d t: no", status))
		assert.Equal(t, "ails", got.Ails, ails)
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
		"http+json://h#token-file=/dev/zero":     "", // where there is one, it has no end
	} {
		got, _ := newAuth(sinktest.Parse(t, text, Kinds()...), "given")()
		assert.Equal(t, text, got, want)
	}
}

func TestClickHouseAddress(t *testing.T) {
	w := open(t, "http+clickhouse://h:8123/db/events?async_insert=1&wait_for_async_insert=0")
	b := events(2)
	address := w.api.requestURL(w.url, b)
	q := address.Query()
	assert.Equal(t, "query", q.Get("query"), "INSERT INTO db.events FORMAT JSONEachRow")
	assert.Equal(t, "theirs wins", q.Get("wait_for_async_insert"), "0")
	assert.Equal(t, "token", q.Get("insert_deduplication_token"), b.Name())
	assert.Equal(t, "path", address.Path, "/")
	old := open(t, "http+clickhouse://h/t#dedup=off")
	address = old.api.requestURL(old.url, b)
	assert.Equal(t, "old", address.Query().Has("insert_deduplication_token"), false)
	_, err := sinktest.Parse(t, "http+clickhouse://h/a;b", Kinds()...).Open(sink.Settings{})
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
	assert.Equal(t, "parse error", c.isRejection(500, nil, []byte("Code: 27, e.displayText()")), true)
	assert.Equal(t, "header", c.isRejection(400, http.Header{http.CanonicalHeaderKey(exceptionHeader): {"117"}}, nil), true)
	assert.Equal(t, "memory", c.isRejection(500, nil, []byte("Code: 241, e.displayText()")), false)
	for answer, want := range map[string]bool{
		`{"error":{"type":"action_request_validation_exception","reason":"id is too long"},"status":400}`: true,
		`{"error":"a text"}`: true, "<html>": true,
		`{"error":{"type":"invalid_index_name_exception","reason":"must be lowercase"},"status":400}`:                                     false,
		`{"error":{"type":"illegal_argument_exception","reason":"request [/a/_bulk] contains unrecognized parameter: [x]"},"status":400}`: false,
	} {
		assert.Equal(t, answer, bulk{}.isRejection(400, nil, []byte(answer)), want)
	}
	assert.Equal(t, "bulk, 401", bulk{}.isRejection(401, nil, []byte("{}")), false)
	o := plainAPI{}
	assert.Equal(t, "401", o.isRejection(401, nil, nil), false)
	assert.Equal(t, "404", o.isRejection(404, nil, nil), false)
	assert.Equal(t, "422", o.isRejection(422, nil, nil), true)
}
