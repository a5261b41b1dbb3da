package fleet

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/tarebench/tare/internal/format"
)

// HubOptions say how a coordinator and its agents meet.
type HubOptions struct {
	Prefix string                   // of subjects; "" means DefaultPrefix
	Listen string                   // host:port for agents that join; "" if it starts all of them
	Cert   tls.Certificate          // with Listen
	Token  func(name string) string // returns the token of an agent name; "" if none may join as name
	URL    string                   // of a NATS cluster; "" means an embedded server
	Creds  string                   // file with credentials of that cluster; "" if none
	Log    func(string)             // receives joins and rejections, a line each; nil if not needed
	times  protocolTimes            // zero means defaultTimes
}

// Hub is a coordinator's side of NATS.
type Hub struct {
	o      HubOptions
	nc     *nats.Conn
	server *server.Server // nil with an external cluster
	secret string         // password of the coordinator's connection

	mu        sync.Mutex
	seats     map[string]seat   // by name of agents that joined
	passwords map[string]string // of started agents, by name
	agents    map[string]*agentState
	listeners []runListener
}

// listener receives the messages of agents for the orders of one run.
type listener struct {
	ask    func(name string, q permitRequest) permitReply
	file   func(name string, q fileRequest) fileReply
	tick   func(name string, text []byte)
	result func(name string, o outcome) error
}

// runListener is a listener with the id of its run.
type runListener struct {
	run string
	listener
}

// agentState holds the last messages of an agent.
type agentState struct {
	hello     Hello
	seenAt    time.Time // of the last message
	helloAt   time.Time // when hello arrived
	endReason error     // why its process ended; nil if it has not
}

// Open starts the embedded server, or connects to the cluster.
func Open(o HubOptions) (*Hub, error) {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if err := CheckPrefix(o.Prefix); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Token == nil {
		o.Token = func(string) string { return "" }
	}
	if o.times == (protocolTimes{}) {
		o.times = defaultTimes()
	}
	h := &Hub{o: o, seats: map[string]seat{}, passwords: map[string]string{}, agents: map[string]*agentState{}, secret: rand.Text()}
	if err := h.connect(); err != nil {
		h.Close()
		return nil, err
	}
	if err := h.subscribe(); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

func (h *Hub) connect() error {
	common := []nats.Option{nats.Name("tare " + coordinator), nats.MaxReconnects(-1), nats.ReconnectWait(h.o.times.retryDelay), nats.RetryOnFailedConnect(false)}
	if h.o.URL != "" {
		common = append(common, lossOptions()...)
		if h.o.Creds != "" {
			common = append(common, nats.UserCredentials(h.o.Creds))
		}
		var err error
		if h.nc, err = nats.Connect(h.o.URL, common...); err != nil {
			return fmt.Errorf("connect to NATS at %s: %w", format.Line(h.o.URL, 200), err)
		}
		return nil
	}
	if err := h.startServer(); err != nil {
		return err
	}
	nc, err := nats.Connect("", append(common, nats.InProcessServer(h.server), nats.UserInfo(coordinator, h.secret))...)
	if err != nil {
		return fmt.Errorf("connect to the server within: %w", err)
	}
	h.nc = nc
	return nil
}

// startServer starts the embedded server. It opens a port only if agents are to join.
func (h *Hub) startServer() error {
	o := &server.Options{
		ServerName: "tare", DontListen: h.o.Listen == "", NoSigs: true, NoLog: true, NoSystemAccount: true,
		MaxPayload: maxMessage, MaxPending: 64 << 20, MaxConn: maxAgents, MaxSubs: 100, PingInterval: pipeTimeout, MaxPingsOut: 2,
		DisableShortFirstPing: true, // a client that has not yet connected takes a ping for an error
		AuthTimeout:           pipeTimeout.Seconds(), WriteDeadline: 10 * time.Second, CustomClientAuthentication: gatekeeper{h},
	}
	if h.o.Listen != "" {
		host, port, err := net.SplitHostPort(h.o.Listen)
		if err != nil {
			return fmt.Errorf("%q is not an address to listen at: %w", h.o.Listen, err)
		}
		if o.Port, err = strconv.Atoi(port); err != nil || o.Port < 0 || o.Port > 65535 {
			return fmt.Errorf("%q is not an address to listen at: host:port", h.o.Listen)
		}
		if o.Port == 0 {
			o.Port = server.RANDOM_PORT
		}
		o.Host, o.TLS, o.TLSTimeout = host, true, 5
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{h.o.Cert}, MinVersion: tls.VersionTLS13}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return fmt.Errorf("start a server of NATS: %w", err)
	}
	h.server = s
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("no server of NATS at %s after 10s: is the address in use?", h.o.Listen)
	}
	return nil
}

// Addr returns the address at which agents join, or "" if there is none.
func (h *Hub) Addr() string {
	if h.server == nil || h.o.Listen == "" {
		return ""
	}
	return h.server.Addr().String()
}

// gatekeeper authenticates agents and limits each to its own subjects.
type gatekeeper struct{ h *Hub }

// Check is server.Authentication.
func (g gatekeeper) Check(c server.ClientAuthentication) bool {
	h, o := g.h, c.GetOpts()
	same := func(a, b string) bool { return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
	if o.Username == coordinator {
		all := &server.SubjectPermission{Allow: []string{h.o.Prefix + ".>", "_INBOX.>"}}
		c.RegisterUser(&server.User{Username: coordinator, Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{">"}}, Subscribe: all}})
		return same(h.secret, o.Password)
	}
	refuse := func(why string) bool {
		from := "a pipe"
		if a := c.RemoteAddress(); a != nil {
			from = a.String()
		}
		h.o.Log(fmt.Sprintf("refused %s at %s: %s", format.Line(o.Username, 80), from, why))
		return false
	}
	if CheckName(o.Username) != nil {
		return refuse("it has no name of an agent")
	}
	h.mu.Lock()
	password, own := h.passwords[o.Username]
	h.mu.Unlock()
	if !own {
		password = h.o.Token(o.Username)
	}
	switch {
	case !same(password, o.Password):
		return refuse("its token is not the one of that name")
	case !own && !h.seatClient(o.Username, o.Name):
		return refuse("another agent of that name is here")
	}
	s := subjects{h.o.Prefix, o.Username}
	c.RegisterUser(&server.User{Username: o.Username, Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{s.fromAgent("*")}},
		Subscribe: &server.SubjectPermission{Allow: []string{s.toAgent("*"), h.o.Prefix + "." + subjectWho, inboxOf(o.Username) + ".>"}},
		Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
	}})
	h.o.Log(format.Line(o.Username, 80) + " joined")
	return true
}

// seat binds an agent name to one client: a process with all its connections.
type seat struct {
	client string
	since  time.Time
}

// seatClient binds name to a client. It returns false if the name belongs to another client
// that is connected and has recently joined or sent a message.
func (h *Hub) seatClient(name, client string) bool {
	conns, err := h.server.Connz(&server.ConnzOptions{Username: true, Limit: maxAgents})
	if err != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s, taken := h.seats[name]
	if taken && s.client != client {
		last := s.since
		if k := h.agents[name]; k != nil && k.seenAt.After(last) {
			last = k.seenAt
		}
		if time.Since(last) < h.o.times.lostAfter && slices.ContainsFunc(conns.Conns, func(c *server.ConnInfo) bool { return c.Name == s.client }) {
			return false
		}
	}
	h.seats[name] = seat{client, time.Now()}
	for _, c := range conns.Conns { // the previous client's connection, whose loss went unnoticed
		if c.AuthorizedUser == name && c.Name != client {
			_ = h.server.DisconnectClientByID(c.Cid)
		}
	}
	return true
}

// inboxOf returns the prefix of the subjects on which an agent gets replies.
func inboxOf(name string) string { return "_INBOX_" + name }

func (h *Hub) subscribe() error {
	results := &parcelReceiver{maxBytes: maxOutcome, take: h.passResult}
	all := subjects{h.o.Prefix, "*"}
	for subject, take := range map[string]func(name string, m *nats.Msg){
		fromHello: func(name string, m *nats.Msg) { h.recordHello(name, m.Data) },
		fromPermit: func(name string, m *nats.Msg) {
			var q permitRequest
			if json.Unmarshal(m.Data, &q) != nil {
				sendReply(m, permitReply{Gone: "the question is none"})
				return
			}
			h.markSeen(name)
			if l := h.findListener(q.Order); l.ask != nil { // otherwise the agent retries until a run begins
				sendReply(m, l.ask(name, q))
			}
		},
		fromFile: h.serveFile,
		fromTick: func(name string, m *nats.Msg) {
			h.markSeen(name)
			if l := h.findListener(""); l.tick != nil {
				l.tick(name, m.Data)
			}
		},
		fromResult: func(name string, m *nats.Msg) {
			h.markSeen(name)
			if h.hasListeners() {
				sendReply(m, results.receivePart(name, m.Data))
			}
		},
	} {
		_, err := h.nc.Subscribe(all.fromAgent(subject), func(m *nats.Msg) {
			if name := cutAround(m.Subject, h.o.Prefix+".from.", "."+subject); CheckName(name) == nil {
				handleSafely(h.o.Log, m, func() { take(name, m) })
			}
		})
		if err != nil {
			return fmt.Errorf("subscribe to agents: %w", err)
		}
	}
	return errors.Join(h.nc.Flush(), h.nc.Publish(h.o.Prefix+"."+subjectWho, nil))
}

// cutAround returns the part of subject between the two texts, or "" if subject does not have
// them.
func cutAround(subject, before, after string) string {
	if len(subject) < len(before)+len(after) || subject[:len(before)] != before || subject[len(subject)-len(after):] != after {
		return ""
	}
	return subject[len(before) : len(subject)-len(after)]
}

// recordHello records an agent's hello.
func (h *Hub) recordHello(name string, text []byte) {
	var said Hello
	if len(text) > 16<<10 || json.Unmarshal(text, &said) != nil {
		return
	}
	if err := said.check(name); err != nil {
		h.mu.Lock()
		first := h.agents[name] == nil
		if first {
			h.findOrAdd(name).endReason = err
		}
		h.mu.Unlock()
		if first {
			h.o.Log("refused " + err.Error())
		}
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	k, now := h.findOrAdd(name), time.Now()
	k.hello, k.seenAt, k.helloAt = said, now, now
}

// maxAgents limits the agents of a coordinator.
const maxAgents = 1000

// findOrAdd returns the state of an agent. For a new one beyond maxAgents it forgets the agent
// with the oldest message. The caller holds the lock.
func (h *Hub) findOrAdd(name string) *agentState {
	k := h.agents[name]
	if k == nil {
		if len(h.agents) >= maxAgents {
			oldest := ""
			for name, k := range h.agents {
				if oldest == "" || k.seenAt.Before(h.agents[oldest].seenAt) {
					oldest = name
				}
			}
			delete(h.agents, oldest)
		}
		k = &agentState{seenAt: time.Now()}
		h.agents[name] = k
	}
	return k
}

// markSeen notes a message of an agent that has sent a hello.
func (h *Hub) markSeen(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.agents[name]; k != nil {
		k.seenAt = time.Now()
	}
}

// passResult passes the outcome of an order to its listener.
func (h *Hub) passResult(name string, body []byte) error {
	var o outcome
	if err := json.Unmarshal(body, &o); err != nil {
		return errors.New("it is not a result")
	}
	l := h.findListener(o.Order)
	if l.result == nil {
		return &busyError{"no run is under way"} // a resumed run may want it
	}
	return l.result(name, o)
}

// hasListeners reports whether a run listens.
func (h *Hub) hasListeners() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners) > 0
}

// maxOutcome limits an outcome, in bytes: a document in base64.
const maxOutcome = 128 << 20

// silentFor returns the time since an agent's last message, or why it has ended.
func (h *Hub) silentFor(name string) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.agents[name]
	switch {
	case k == nil:
		return time.Duration(1<<63 - 1), nil
	case k.endReason != nil:
		return 0, k.endReason
	}
	return time.Since(k.seenAt), nil
}

// currentOrder returns the order in an agent's last hello ("" if none) and the time of that
// hello.
func (h *Hub) currentOrder(name string) (order string, said time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.agents[name]; k != nil {
		return k.hello.Order, k.helloAt
	}
	return "", time.Time{}
}

// Agents returns the agents with a recent message, by name.
func (h *Hub) Agents() []Hello {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Hello
	for _, k := range h.agents {
		if k.endReason == nil && time.Since(k.seenAt) < h.o.times.lostAfter {
			out = append(out, k.hello)
		}
	}
	slices.SortFunc(out, func(a, b Hello) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

// Await waits until an agent sends a hello.
func (h *Hub) Await(ctx context.Context, name string) error {
	for {
		silent, err := h.silentFor(name)
		switch {
		case err != nil:
			return err
		case silent < h.o.times.lostAfter:
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Reach waits until an agent is connected. It calls start if it is not; nil means that the
// agent joins.
func (h *Hub) Reach(ctx context.Context, name string, start func(context.Context) error) error {
	if silent, err := h.silentFor(name); err == nil && silent < h.o.times.lostAfter {
		return nil
	}
	if start != nil {
		if err := start(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*h.o.times.lostAfter, fmt.Errorf("no agent of that name joined within %v", 2*h.o.times.lostAfter))
	defer cancel()
	return h.Await(ctx, name)
}

// markEnded records that an agent's process has ended.
func (h *Hub) markEnded(name string, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if why == nil {
		why = errors.New("the agent ended")
	}
	h.findOrAdd(name).endReason = why
}

// issuePassword returns a new password for agent name, which is about to start, and forgets any
// earlier agent of that name.
func (h *Hub) issuePassword(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.passwords[name] = rand.Text()
	delete(h.agents, name)
	return h.passwords[name]
}

// addListener registers l for the orders of run until stop is called.
func (h *Hub) addListener(run string, l listener) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners = append(h.listeners, runListener{run, l})
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.listeners = slices.DeleteFunc(h.listeners, func(o runListener) bool { return o.run == run })
	}
}

// findListener returns the listener of an order. The first listener gets unknown orders and
// rejects them. It is empty if no run listens.
func (h *Hub) findListener(order string) listener {
	run, _, _ := strings.Cut(order, ".")
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.listeners {
		if l.run == run {
			return l.listener
		}
	}
	if len(h.listeners) > 0 {
		return h.listeners[0].listener
	}
	return listener{}
}

// sendOrder sends an order to an agent. It retries for 2*lostAfter if the agent is busy or
// unreachable.
func (h *Hub) sendOrder(ctx context.Context, name string, o Order) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*h.o.times.lostAfter, fmt.Errorf("it took no order within %v", 2*h.o.times.lostAfter))
	defer cancel()
	for n := 1; ; n++ {
		var busy *busyError
		if err = sendParcel(ctx, h.nc, h.o.times, subjects{h.o.Prefix, name}.toAgent(toOrder), fmt.Sprintf("%s/%d", o.ID, n), text); !errors.As(err, &busy) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(h.o.times.retryDelay):
		}
	}
}

// sendCancel tells an agent to cancel an order.
func (h *Hub) sendCancel(name, order string) {
	text, _ := json.Marshal(startRequest{Order: order})
	_ = h.nc.Publish(subjects{h.o.Prefix, name}.toAgent(toCancel), text)
	_ = h.nc.Flush()
}

// Close ends the connections and the server.
func (h *Hub) Close() {
	if h.nc != nil {
		h.nc.Close()
	}
	if h.server != nil {
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}
}
