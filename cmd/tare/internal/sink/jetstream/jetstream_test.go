package jetstream

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest/hosts"
	"github.com/tarebench/tare/internal/assert"
)

func TestMain(m *testing.M) {
	os.Exit(sinktest.Main(m, Kind()))
}

func open(t testing.TB, url string) *JetStream {
	t.Helper()
	return sinktest.Open[*JetStream](t, url, Kind())
}

func TestConformance(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		h := hosts.NewNATS(t)
		return sinktest.Subject{
			Open:    func(t testing.TB) sink.Sink { return open(t, h.URL()+"#timeout=2s") },
			Arrived: h.Arrived,
			Away:    h.Stop, Back: h.Start,
			Once: true, Unordered: true,
		}
	})
}

func TestKilled(t *testing.T) {
	h := hosts.NewNATS(t)
	sinktest.Killed(t, h.URL()+"#timeout=2s", sinktest.DefaultKills(), h.Stop, h.Start, h.Arrived)
}

// An event that is too large for the server is dead; the other events of its batch arrive.
func TestTooLargeEventIsDead(t *testing.T) {
	h := hosts.NewNATS(t)
	j := open(t, h.URL())
	defer j.Close()
	b := sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}, {Line: []byte(sinktest.Line(strings.Repeat("x", 2<<20)))}, {Line: []byte(sinktest.Line("b"))}}}
	result, err := j.Send(t.Context(), b)
	assert.NoError(t, "send", err)
	if len(result.Dead) != 1 || result.Dead[0].Index != 1 || len(result.Again) > 0 {
		t.Errorf("%+v", result)
	}
	assert.Equal(t, "arrived", len(h.Arrived()), 2)
}

// An event that the server refuses after it was published is dead as well; the other events of its
// batch arrive.
func TestEventThatTheServerRefusesIsDead(t *testing.T) {
	for name, c := range map[string]struct {
		most int32 // bytes of a message in the stream; 0: any
		id   int
	}{
		"larger than the stream takes": {most: 10_000, id: 20_000},
		"header of more than 64 KiB":   {id: 70_000},
	} {
		t.Run(name, func(t *testing.T) {
			h := hosts.NewNATS(t)
			if c.most > 0 {
				js := h.Client()
				defer js.Conn().Close()
				_, err := js.UpdateStream(t.Context(), jetstream.StreamConfig{Name: "events", Subjects: []string{"events"}, MaxMsgSize: c.most})
				assert.NoError(t, "stream", err)
			}
			j := open(t, h.URL())
			defer j.Close()
			b := sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}, {Line: []byte(sinktest.Line(strings.Repeat("x", c.id)))}, {Line: []byte(sinktest.Line("b"))}}}
			result, err := j.Send(t.Context(), b)
			assert.NoError(t, "send", err)
			if len(result.Dead) != 1 || result.Dead[0].Index != 1 || len(result.Again) > 0 {
				t.Errorf("%d dead, again %v", len(result.Dead), result.Again)
			}
			assert.Equal(t, "arrived", len(h.Arrived()), 2)

			result, err = j.Send(t.Context(), sink.Batch{Events: b.Events[1:2]})
			assert.NoError(t, "send it alone", err)
			assert.Equal(t, "dead alone", len(result.Dead), 1)
		})
	}
}

// If no stream keeps the subject, Send fails, because nothing is acknowledged.
func TestNoStream(t *testing.T) {
	h := hosts.NewNATS(t)
	j := open(t, strings.Replace(h.URL(), "/events", "/other", 1)+"#timeout=500ms")
	defer j.Close()
	_, err := j.Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}}})
	if err == nil {
		t.Error("sent")
	}
}

// Sending goes on after the server has refused the user for a while, and after the connection was
// closed for good.
func TestConnectsAgain(t *testing.T) {
	h := hosts.NewNATS(t)
	j := open(t, h.URL()+"#timeout=2s")
	defer j.Close()
	send := func(id string) {
		t.Helper()
		b := sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line(id))}}}
		_, err := j.Send(t.Context(), b)
		for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			_, err = j.Send(t.Context(), b)
		}
		assert.NoError(t, "send "+id, err)
	}
	send("a")
	h.Stop()
	h.Token = "secret"
	h.Start()
	for h.Connections() < 4 && !j.conn.IsClosed() {
		time.Sleep(time.Millisecond)
	}
	h.Stop()
	h.Token = ""
	h.Start()
	send("b")
	j.conn.Close()
	send("c")
	assert.Equal(t, "arrived", len(h.Arrived()), 3)
}

func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"jetstream://h:1":             "no /SUBJECT",
		"jetstream://h:1/a.*":         "no /SUBJECT",
		"jetstream://h:1/a#durable=x": "neither on nor off",
		"jetstream://h:1/a#timeout=x": "no duration",
	} {
		_, err := sinktest.Parse(t, url, Kind()).Open(sink.Settings{})
		assert.ErrorContains(t, url, err, want)
	}
	assert.Contains(t, "promise", open(t, "jetstream://h/a").Promise().String(), "not on stable storage")
	assert.Contains(t, "promise", open(t, "jetstream://u:p@h/a#durable=on").Promise().String(), "on stable storage")
}

// The trace of an event is sent as a header of its message.
func TestTraceparent(t *testing.T) {
	h := hosts.NewNATS(t)
	j := open(t, h.URL())
	defer j.Close()
	js := h.Client()
	defer js.Conn().Close()
	traces := map[string]string{}
	received, err := js.Conn().SubscribeSync("events")
	assert.NoError(t, "subscribe", err)
	assert.NoError(t, "flush", js.Conn().Flush())
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	_, err = j.Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Traced("a", trace))}, {Line: []byte(sinktest.Line("b"))}}})
	assert.NoError(t, "send", err)
	for range 2 {
		m, err := received.NextMsg(time.Minute)
		assert.NoError(t, "receive", err)
		traces[m.Header.Get(jetstream.MsgIDHeader)] = m.Header.Get("traceparent")
	}
	assert.Equal(t, "traces", fmt.Sprint(traces), fmt.Sprint(map[string]string{`"a"`: trace, `"b"`: ""}))
}
