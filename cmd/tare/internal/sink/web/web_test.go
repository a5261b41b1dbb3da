package web

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/internal/assert"
)

func open(t testing.TB, url string) *Web {
	t.Helper()
	return sinktest.Open[*Web](t, url, Kinds()...)
}

func TestConformance(t *testing.T) {
	for _, api := range []string{"ndjson", "json", "bulk", "clickhouse", "bigquery"} {
		for _, set := range []string{"", "#gzip=on"} {
			if set != "" && api != "ndjson" && !sinktest.Soak() { // bodies are packed in one place
				continue
			}
			t.Run(api+set, func(t *testing.T) {
				sinktest.Run(t, func(t *testing.T) sinktest.Subject {
					far := sinktest.NewServer(t, api)
					url := far.URL() + set
					return sinktest.Subject{
						Open:    func(t testing.TB) sink.Sink { return open(t, url) },
						Arrived: far.Arrived,
						Away:    far.Stop, Back: far.Start, Fail: far.Fail, Refuse: far.Refuse,
						Once:      api != "ndjson" && api != "json",
						Unordered: api == "bulk" || api == "bigquery",
					}
				})
			})
		}
	}
}

func TestMain(m *testing.M) {
	os.Exit(sinktest.Main(m, Kinds()...))
}

func TestKilled(t *testing.T) {
	for _, api := range []string{"ndjson", "json", "bulk", "clickhouse", "bigquery"} {
		t.Run(api, func(t *testing.T) {
			far := sinktest.NewServer(t, api)
			sinktest.Killed(t, far.URL(), sinktest.DefaultKills(), far.Stop, far.Start, far.Arrived)
		})
	}
}

// A request names a trace if all of its events belong to that trace.
func TestTraceparent(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Get("traceparent")) }))
	defer s.Close()
	w := open(t, strings.Replace(s.URL, "http:", "http+ndjson:", 1)+"/")
	defer w.Close()
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	of, none := sink.Event{Line: []byte(sinktest.Traced("a", trace))}, sink.Event{Line: []byte(sinktest.Line("b"))}
	for _, events := range [][]sink.Event{{of, of}, {of, none}} {
		_, err := w.Send(t.Context(), sink.Batch{Events: events})
		assert.NoError(t, "send", err)
	}
	assert.Slices(t, "headers", got, []string{trace, ""})
}

// TestRedirect: events and the token go to the server of the URL and nowhere else.
func TestRedirect(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(other.URL, status))
		w := open(t, strings.Replace(s.URL, "http:", "http+ndjson:", 1)+"/")
		_, err := w.Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}}})
		assert.ErrorContains(t, "send", err, strconv.Itoa(status))
		assert.NoError(t, "close", w.Close())
		s.Close()
	}
	assert.Equal(t, "requests that followed a redirect", reached, 0)
}
