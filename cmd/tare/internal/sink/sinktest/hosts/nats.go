package hosts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tarebench/tare/internal/assert"
)

// NATS is a server with JetStream in this process. It can be restarted.
type NATS struct {
	Token string // token that clients need after the next Start; "" means none

	t      *testing.T
	dir    string
	port   int // the same after each Start
	server *server.Server
}

// NewNATS starts a server, with the stream events.
func NewNATS(t *testing.T) *NATS {
	t.Helper()
	h := &NATS{t: t, dir: t.TempDir(), port: server.RANDOM_PORT}
	h.Start()
	t.Cleanup(func() { h.Stop() })
	js := h.Client()
	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "events", Subjects: []string{"events"}, Storage: jetstream.FileStorage})
	assert.NoError(t, "stream", err)
	js.Conn().Close()
	return h
}

// Start starts the server. It uses the same port and directory each time.
func (h *NATS) Start() {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: h.port, JetStream: true, StoreDir: h.dir, Authorization: h.Token, NoLog: true, NoSigs: true})
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

// Stop stops the server.
func (h *NATS) Stop() {
	h.server.Shutdown()
	h.server.WaitForShutdown()
}

// Client returns a connected client.
func (h *NATS) Client() jetstream.JetStream {
	conn, err := nats.Connect(h.server.ClientURL())
	assert.NoError(h.t, "connect", err)
	js, err := jetstream.New(conn)
	assert.NoError(h.t, "stream", err)
	return js
}

// Connections returns the number of connections since Start, rejected ones included.
func (h *NATS) Connections() uint64 {
	v, err := h.server.Varz(nil)
	assert.NoError(h.t, "server", err)
	return v.TotalConnections
}

// URL returns the URL of the sink.
func (h *NATS) URL() string { return fmt.Sprintf("jetstream://127.0.0.1:%d/events", h.port) }

// Count returns the number of events.
func (h *NATS) Count() int {
	js := h.Client()
	defer js.Conn().Close()
	s, err := js.Stream(h.t.Context(), "events")
	assert.NoError(h.t, "stream", err)
	info, err := s.Info(h.t.Context())
	assert.NoError(h.t, "info", err)
	return int(info.State.Msgs)
}

// Arrived returns the events of the stream.
func (h *NATS) Arrived() (events []string) {
	js := h.Client()
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
