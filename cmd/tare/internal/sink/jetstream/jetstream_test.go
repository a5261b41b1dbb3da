package jetstream

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/internal/assert"
)

func TestMain(m *testing.M) {
	os.Exit(sinktest.Main(m, func(t sink.Target) (sink.Sink, error) { return New(t) }))
}

// host is a server in this process, which can end and begin again.
type host struct {
	t      *testing.T
	dir    string
	port   int
	server *server.Server
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, dir: t.TempDir(), port: server.RANDOM_PORT}
	h.start()
	t.Cleanup(func() { h.stop() })
	js := h.client()
	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "events", Subjects: []string{"events"}, Storage: jetstream.FileStorage})
	assert.NoError(t, "stream", err)
	js.Conn().Close()
	return h
}

func (h *host) start() {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: h.port, JetStream: true, StoreDir: h.dir, NoLog: true, NoSigs: true})
	assert.NoError(h.t, "server", err)
	s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		h.t.Fatal("the server is not ready")
	}
	h.server = s
	if addr, ok := s.Addr().(interface{ String() string }); ok && h.port == server.RANDOM_PORT {
		_, err := fmt.Sscanf(addr.String()[strings.LastIndexByte(addr.String(), ':')+1:], "%d", &h.port)
		assert.NoError(h.t, "port", err)
	}
}

func (h *host) stop() {
	h.server.Shutdown()
	h.server.WaitForShutdown()
}

func (h *host) client() jetstream.JetStream {
	conn, err := nats.Connect(h.server.ClientURL())
	assert.NoError(h.t, "connect", err)
	js, err := jetstream.New(conn)
	assert.NoError(h.t, "stream", err)
	return js
}

func (h *host) url() string { return fmt.Sprintf("jetstream://127.0.0.1:%d/events", h.port) }

func (h *host) arrived() (events []string) {
	js := h.client()
	defer js.Conn().Close()
	s, err := js.Stream(h.t.Context(), "events")
	assert.NoError(h.t, "stream", err)
	consumer, err := s.OrderedConsumer(h.t.Context(), jetstream.OrderedConsumerConfig{})
	assert.NoError(h.t, "consumer", err)
	info, err := s.Info(h.t.Context())
	assert.NoError(h.t, "info", err)
	for uint64(len(events)) < info.State.Msgs {
		batch, err := consumer.Fetch(10_000, jetstream.FetchMaxWait(time.Second))
		assert.NoError(h.t, "fetch", err)
		for m := range batch.Messages() {
			events = append(events, string(m.Data()))
		}
	}
	return events
}

func open(t testing.TB, url string) *JetStream {
	t.Helper()
	list, err := sink.ParseTargets(url)
	assert.NoError(t, "parse", err)
	j, err := New(list[0])
	assert.NoError(t, "open", err)
	return j
}

func TestConformance(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		h := newHost(t)
		return sinktest.Subject{
			Open:    func(t testing.TB) sink.Sink { return open(t, h.url()+"#timeout=2s") },
			Arrived: h.arrived,
			Away:    h.stop, Back: h.start,
			Once: true, Unordered: true,
		}
	})
}

func TestKilled(t *testing.T) {
	h := newHost(t)
	sinktest.Killed(t, h.url()+"#timeout=2s", sinktest.DefaultKills(), h.stop, h.start, h.arrived)
}

// An event that the server will not take is dead, and the others are not.
func TestTooLargeEventIsDead(t *testing.T) {
	h := newHost(t)
	j := open(t, h.url())
	defer j.Close()
	b := sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}, {Line: []byte(sinktest.Line(strings.Repeat("x", 2<<20)))}, {Line: []byte(sinktest.Line("b"))}}}
	result, err := j.Send(t.Context(), b)
	assert.NoError(t, "send", err)
	if len(result.Dead) != 1 || result.Dead[0].Index != 1 || len(result.Again) > 0 {
		t.Errorf("%+v", result)
	}
	assert.Equal(t, "arrived", len(h.arrived()), 2)
}

// Without a stream that keeps the subject nothing is acknowledged.
func TestNoStream(t *testing.T) {
	h := newHost(t)
	j := open(t, strings.Replace(h.url(), "/events", "/other", 1)+"#timeout=500ms")
	defer j.Close()
	_, err := j.Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}}})
	if err == nil {
		t.Error("sent")
	}
}

func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"jetstream://h:1":             "no /SUBJECT",
		"jetstream://h:1/a.*":         "no /SUBJECT",
		"jetstream://h:1/a#durable=x": "neither on nor off",
		"jetstream://h:1/a#timeout=x": "no duration",
	} {
		list, err := sink.ParseTargets(url)
		assert.NoError(t, url, err)
		_, err = New(list[0])
		assert.ErrorContains(t, url, err, want)
	}
	assert.Contains(t, "promise", open(t, "jetstream://h/a").Promise().String(), "not on stable storage")
	assert.Contains(t, "promise", open(t, "jetstream://u:p@h/a#durable=on").Promise().String(), "on stable storage")
}

// An event's trace is a header of its message.
func TestTraceparent(t *testing.T) {
	h := newHost(t)
	j := open(t, h.url())
	defer j.Close()
	js := h.client()
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
