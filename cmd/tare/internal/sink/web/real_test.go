package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
)

// ask sends a request to a real far side, for as long as it is refused.
func ask(t testing.TB, method, address, body string) string {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		r, err := http.NewRequest(method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			text, errRead := io.ReadAll(answer.Body)
			answer.Body.Close()
			if errRead == nil && answer.StatusCode/100 == 2 {
				return string(text)
			}
			err = fmt.Errorf("%d: %.300s", answer.StatusCode, text)
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestRealOpenSearch runs the suite against a real server, whose index refuses a metadata field
// that is not a number: real poison.
func TestRealOpenSearch(t *testing.T) {
	far := sinktest.NewReal(t, "opensearch")
	n := 0
	index := func(t testing.TB) (url string, arrived func() []string) {
		n++
		address := fmt.Sprintf("127.0.0.1:19200/events-%d-%d", time.Now().UnixNano(), n)
		ask(t, http.MethodPut, "http://"+address, `{"settings":{"number_of_replicas":0,"index.max_result_window":5000000},"mappings":{"properties":{"metadata":{"properties":{"screen_width":{"type":"integer"}}}}}}`)
		return "http+bulk://" + address, func() (events []string) {
			ask(t, http.MethodPost, "http://"+address+"/_refresh", "")
			var answer struct {
				Hits struct {
					Hits []struct {
						Source json.RawMessage `json:"_source"`
					} `json:"hits"`
				} `json:"hits"`
			}
			if err := json.Unmarshal([]byte(ask(t, http.MethodPost, "http://"+address+"/_search", `{"size":5000000,"sort":["_seq_no"]}`)), &answer); err != nil {
				t.Fatal(err)
			}
			for _, hit := range answer.Hits.Hits {
				events = append(events, string(hit.Source))
			}
			return events
		}
	}
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		url, arrived := index(t)
		return sinktest.Subject{
			Open: func(t testing.TB) sink.Sink { return open(t, url+"#gzip=on") }, Arrived: arrived,
			Away: far.Kill, Back: far.Start, Once: true, Unordered: true,
		}
	})
	t.Run("killed", func(t *testing.T) {
		url, arrived := index(t)
		sinktest.Killed(t, url, sinktest.RealKills(), far.Kill, far.Start, arrived)
	})
	t.Run("mapping", func(t *testing.T) {
		url, arrived := index(t)
		w := open(t, url)
		b := sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}, {Line: []byte(strings.Replace(sinktest.Line("b"), "1920", `"wide"`, 1))}, {Line: []byte(sinktest.Line("a"))}}}
		result, err := w.Send(t.Context(), b)
		if err != nil || len(result.Dead) != 1 || result.Dead[0].Index != 1 || !strings.Contains(result.Dead[0].Reason, "mapper_parsing_exception") {
			t.Errorf("%+v %v", result, err)
		}
		if got := len(arrived()); got != 1 {
			t.Errorf("%d are there", got)
		}
	})
}

// TestRealClickHouse uses a server of 2018, whose tables here do not deduplicate.
func TestRealClickHouse(t *testing.T) {
	far := sinktest.NewReal(t, "clickhouse")
	n := 0
	query := func(t testing.TB, text string) string {
		return ask(t, http.MethodPost, "http://127.0.0.1:18123/?max_threads=1&query="+url.QueryEscape(text), "")
	}
	table := func(t testing.TB) (address string, arrived func() []string) {
		n++
		name := fmt.Sprintf("events_%d_%d", time.Now().UnixNano(), n)
		query(t, "CREATE TABLE "+name+" (id String, timestamp DateTime, user_id String, screen_width Int32, scroll_depth Float64, n UInt64 MATERIALIZED toUInt64(now())) ENGINE = Log")
		return "http+clickhouse://127.0.0.1:18123/default/" + name + "#dedup=off", func() []string {
			return strings.Split(strings.TrimSpace(query(t, "SELECT id FROM "+name+" FORMAT JSONEachRow")), "\n")
		}
	}
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		address, arrived := table(t)
		return sinktest.Subject{
			Open: func(t testing.TB) sink.Sink { return open(t, address+"&gzip=on") }, Arrived: arrived,
			Away: far.Kill, Back: far.Start,
		}
	})
	t.Run("killed", func(t *testing.T) {
		address, arrived := table(t)
		sinktest.Killed(t, address, sinktest.RealKills(), nil, nil, arrived) // a server of that age acknowledges before it has written
	})
	t.Run("type", func(t *testing.T) {
		address, _ := table(t)
		_, err := open(t, address).Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte(strings.Replace(sinktest.Line("b"), "1920", `"wide"`, 1))}}})
		if _, refused := err.(*sink.Refused); !refused {
			t.Errorf("%T %v", err, err)
		}
	})
}
