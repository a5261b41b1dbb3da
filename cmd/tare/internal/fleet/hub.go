package fleet

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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

// HubOptions configures the connection between a coordinator and its agents.
type HubOptions struct {
	Prefix string                   // start of subjects; "" means DefaultPrefix
	Listen string                   // host:port at which agents join; "" if the coordinator starts all agents
	Cert   tls.Certificate          // certificate of the embedded server, if Listen is set
	Token  func(name string) string // returns the token of agent name; "" if no agent may join as name
	URL    string                   // URL of a NATS cluster; "" means an embedded server
	Creds  string                   // file with credentials of the cluster; "" for none
	Log    func(string)             // receives joins and rejections, a line each; may be nil
	times  protocolTimes            // zero means defaultTimes
}

// Hub is the coordinator's end of the connections to all agents, through an embedded NATS server or a
// cluster. It passes the messages of agents to the runs that listen.
type Hub struct {
	o      HubOptions
	nc     *nats.Conn
	server *server.Server // nil with an external cluster
	secret string         // password of the coordinator's connection

	mu        sync.Mutex
	seats     map[string]seat        // clients of agents that joined, by name
	passwords map[string]string      // passwords of started agents, by name
	agents    map[string]*agentState // by name
	listeners []runListener
}

// listener receives the messages of agents about the orders of one run. A function may be nil if a run
// does not expect its messages.
type listener struct {
	permit func(name string, q permitRequest) permitReply
	file   func(name string, q fileRequest) fileReply
	tick   func(name string, text []byte)
	result func(name string, o outcome) error
}

// runListener is a listener with the id of its run.
type runListener struct {
	run string
	listener
}

// agentState contains the last messages of an agent.
type agentState struct {
	hello     Hello
	seenAt    time.Time // time of the last message
	helloAt   time.Time // time of the last hello
	endReason error     // why the agent's process ended or was rejected; nil while it runs
}

// Open starts the embedded server or connects to the cluster, and subscribes to the messages of agents.
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

// connect connects to the cluster, or to the embedded server, which it starts.
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

// startServer starts the embedded server. It opens a port only if Listen is set.
func (h *Hub) startServer() error {
	o := &server.Options{
		ServerName: "tare", DontListen: h.o.Listen == "", NoSigs: true, NoLog: true, NoSystemAccount: true,
		MaxPayload: maxMessage, MaxPending: 64 << 20, MaxConn: maxAgents, MaxSubs: 100, PingInterval: pipeTimeout, MaxPingsOut: 2,
		DisableShortFirstPing: true, // a client that is still connecting treats a ping as an error
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

// Addr returns the address at which agents join, or "" if no agents can.
func (h *Hub) Addr() string {
	if h.server == nil || h.o.Listen == "" {
		return ""
	}
	return h.server.Addr().String()
}

// gatekeeper authenticates agents and limits each to its own subjects.
type gatekeeper struct{ h *Hub }

// Check implements server.Authentication. It accepts the coordinator's own connection, agents that the
// coordinator started, by their passwords, and agents that join, by the tokens of their names.
func (g gatekeeper) Check(c server.ClientAuthentication) bool {
	h, o := g.h, c.GetOpts()
	isEqual := func(a, b string) bool { return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
	if o.Username == coordinator {
		all := &server.SubjectPermission{Allow: []string{h.o.Prefix + ".>", "_INBOX.>"}}
		c.RegisterUser(&server.User{Username: coordinator, Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{">"}}, Subscribe: all}})
		return isEqual(h.secret, o.Password)
	}
	reject := func(why string) bool {
		addr := "a pipe"
		if a := c.RemoteAddress(); a != nil {
			addr = a.String()
		}
		h.o.Log(fmt.Sprintf("refused %s at %s: %s", format.Line(o.Username, 80), addr, why))
		return false
	}
	if CheckName(o.Username) != nil {
		return reject("it has no name of an agent")
	}
	h.mu.Lock()
	password, isStarted := h.passwords[o.Username]
	h.mu.Unlock()
	if !isStarted {
		password = h.o.Token(o.Username)
	}
	switch {
	case !isEqual(password, o.Password):
		return reject("its token is not the one of that name")
	case !isStarted && !h.seatClient(o.Username, o.Name):
		return reject("another agent of that name is here")
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

// seat is the client that uses an agent name: a process, with all of its connections.
type seat struct {
	client string    // NATS name of the client, which is random
	since  time.Time // time of the last connection
}

// seatClient gives an agent name to a client. It returns false if another client has the name, is
// connected, and has joined or sent a message within lostAfter.
func (h *Hub) seatClient(name, client string) bool {
	conns, err := h.server.Connz(&server.ConnzOptions{Username: true, Limit: maxAgents})
	if err != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s, isTaken := h.seats[name]
	if isTaken && s.client != client {
		lastSign := s.since
		if k := h.agents[name]; k != nil && k.seenAt.After(lastSign) {
			lastSign = k.seenAt
		}
		isConnected := slices.ContainsFunc(conns.Conns, func(c *server.ConnInfo) bool { return c.Name == s.client })
		if isConnected && time.Since(lastSign) < h.o.times.lostAfter {
			return false
		}
	}
	h.seats[name] = seat{client, time.Now()}
	for _, c := range conns.Conns { // a connection of the previous client, whose loss was not noticed
		if c.AuthorizedUser == name && c.Name != client {
			_ = h.server.DisconnectClientByID(c.Cid)
		}
	}
	return true
}

// inboxOf returns the prefix of the subjects on which an agent receives replies.
func inboxOf(name string) string { return "_INBOX_" + name }

// subscribe handles the messages of agents, and requests a hello of all agents.
func (h *Hub) subscribe() error {
	results := &parcelReceiver{maxBytes: maxOutcome, take: h.passResult}
	all := subjects{h.o.Prefix, "*"}
	for subject, handle := range map[string]func(name string, m *nats.Msg){
		fromHello: func(name string, m *nats.Msg) { h.recordHello(name, m.Data) },
		fromPermit: func(name string, m *nats.Msg) {
			var q permitRequest
			if json.Unmarshal(m.Data, &q) != nil {
				sendReply(m, permitReply{Gone: "the question is none"})
				return
			}
			h.markSeen(name)
			if l := h.findListener(q.Order); l.permit != nil { // otherwise the agent retries until a run begins
				sendReply(m, l.permit(name, q))
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
				handleSafely(h.o.Log, m, func() { handle(name, m) })
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

// recordHello records a hello of agent name. It ignores text that is not a hello, and logs the first
// hello of an agent with another protocol or name.
func (h *Hub) recordHello(name string, text []byte) {
	var hello Hello
	if len(text) > maxHello || json.Unmarshal(text, &hello) != nil {
		return
	}
	if err := hello.check(name); err != nil {
		h.mu.Lock()
		isFirst := h.agents[name] == nil
		if isFirst {
			h.findOrAdd(name).endReason = err
		}
		h.mu.Unlock()
		if isFirst {
			h.o.Log("refused " + err.Error())
		}
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	k, now := h.findOrAdd(name), time.Now()
	k.hello, k.seenAt, k.helloAt = hello, now, now
}

// Limits of a coordinator.
const (
	maxAgents = 1000
	maxHello  = 16 << 10 // bytes of a hello
)

// findOrAdd returns the state of an agent, a new one if the agent is unknown. If there are maxAgents
// already it forgets the agent with the oldest message. The caller has the lock.
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

// markSeen records the time of a message, if the agent has sent a hello before.
func (h *Hub) markSeen(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.agents[name]; k != nil {
		k.seenAt = time.Now()
	}
}

// passResult passes the outcome of an order to the listener of its run. Without a listener it returns
// a busyError: a resumed run may accept the outcome later.
func (h *Hub) passResult(name string, body []byte) error {
	var o outcome
	if err := json.Unmarshal(body, &o); err != nil {
		return errors.New("it is not a result")
	}
	l := h.findListener(o.Order)
	if l.result == nil {
		return &busyError{"no run is under way"}
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

// silentFor returns the time since an agent's last message, or an error if the agent has ended. For an
// unknown agent it returns the longest duration.
func (h *Hub) silentFor(name string) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.agents[name]
	switch {
	case k == nil:
		return math.MaxInt64, nil
	case k.endReason != nil:
		return 0, k.endReason
	}
	return time.Since(k.seenAt), nil
}

// currentOrder returns the id of the order in an agent's last hello, "" if the agent was idle, and the
// time of the hello.
func (h *Hub) currentOrder(name string) (order string, helloAt time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.agents[name]; k != nil {
		return k.hello.Order, k.helloAt
	}
	return "", time.Time{}
}

// Agents returns the last hellos of agents with a message within lostAfter, sorted by name.
func (h *Hub) Agents() []Hello {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Hello
	for _, k := range h.agents {
		if k.endReason == nil && time.Since(k.seenAt) < h.o.times.lostAfter {
			out = append(out, k.hello)
		}
	}
	slices.SortFunc(out, func(a, b Hello) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Await waits until there is a recent message of an agent. It returns an error if the agent has ended.
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

// Reach waits until an agent is connected, for at most 2*lostAfter. If it is not connected, Reach calls
// start first; start is nil if the agent joins by itself.
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

// findListener returns the listener of the run that an order belongs to. An unknown order goes to the
// first listener, which rejects it. Without any listener the functions of the result are nil.
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

// sendOrder sends an order to an agent, and retries for 2*lostAfter if the agent is busy or cannot be
// reached. Each attempt is another parcel.
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

// sendCancel requests an agent to cancel an order. It does not wait for a reply.
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
