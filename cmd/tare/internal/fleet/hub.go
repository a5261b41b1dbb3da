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
	Prefix string                   // "" means DefaultPrefix
	Listen string                   // host:port at which agents join; "" means that none can join
	Cert   tls.Certificate          // used with Listen
	Token  func(name string) string // token of an agent; "" means that it may not join
	URL    string                   // NATS cluster; "" means an embedded server
	Creds  string                   // file with credentials of the cluster; "" for none
	Log    func(string)             // receives joins and rejections; may be nil
	times  protocolTimes            // zero means defaultTimes
}

// Hub connects the coordinator with all agents: tare processes that run orders on other machines. An order is
// a share of a run, such as rounds of a study. Messages go through an embedded NATS server or a cluster.
type Hub struct {
	options HubOptions
	nc      *nats.Conn
	server  *server.Server // nil with an external cluster
	secret  string         // password of the coordinator's connection

	mu        sync.Mutex
	seats     map[string]seat   // clients that joined, by agent
	passwords map[string]string // for agents that the coordinator started
	agents    map[string]*agentState
	listeners []runListener
}

// listener handles messages about the orders of one run. A nil function means that its messages are not
// expected.
type listener struct {
	permit func(name string, req permitRequest) permitReply // may the agent measure another round?
	file   func(name string, req fileRequest) fileReply
	tick   func(name string, t Ticked)        // one second of a load was measured
	result func(name string, o outcome) error // an error rejects the result
}

type runListener struct {
	run string
	listener
}

type agentState struct {
	hello     Hello
	seenAt    time.Time
	helloAt   time.Time
	endReason error // nil while the agent's process runs
}

// Open connects to the cluster, or starts the embedded server. It subscribes to the messages of agents.
func Open(options HubOptions) (*Hub, error) {
	if options.Prefix == "" {
		options.Prefix = DefaultPrefix
	}
	if err := CheckPrefix(options.Prefix); err != nil {
		return nil, err
	}
	if options.Log == nil {
		options.Log = func(string) {}
	}
	if options.Token == nil {
		options.Token = func(string) string { return "" }
	}
	if options.times == (protocolTimes{}) {
		options.times = defaultTimes()
	}
	h := &Hub{options: options, secret: rand.Text(), seats: map[string]seat{}, passwords: map[string]string{}, agents: map[string]*agentState{}}
	err := h.connect()
	if err == nil {
		err = h.subscribe()
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

func (h *Hub) connect() error {
	common := []nats.Option{nats.Name("tare " + coordinator), nats.MaxReconnects(-1), nats.ReconnectWait(h.options.times.retryDelay), nats.RetryOnFailedConnect(false)}
	if h.options.URL != "" {
		common = append(common, lossOptions()...)
		if h.options.Creds != "" {
			common = append(common, nats.UserCredentials(h.options.Creds))
		}
		var err error
		if h.nc, err = nats.Connect(h.options.URL, common...); err != nil {
			return fmt.Errorf("connect to NATS at %s: %w", format.Line(h.options.URL, 200), err)
		}
		return nil
	}
	if err := h.startServer(); err != nil {
		return err
	}
	nc, err := nats.Connect("", append(common, nats.InProcessServer(h.server), nats.UserInfo(coordinator, h.secret))...)
	if err != nil {
		return fmt.Errorf("connect to the server within: %w", err) // within this process
	}
	h.nc = nc
	return nil
}

// startServer opens a port only if Listen is set.
func (h *Hub) startServer() error {
	serverOptions := &server.Options{
		ServerName: "tare", DontListen: h.options.Listen == "", NoSigs: true, NoLog: true, NoSystemAccount: true,
		MaxPayload: maxMessage, MaxPending: 64 << 20, MaxConn: maxAgents, MaxSubs: 100, PingInterval: pipeTimeout, MaxPingsOut: 2,
		DisableShortFirstPing: true, // clients that are connecting treat a ping as an error
		AuthTimeout:           pipeTimeout.Seconds(), WriteDeadline: 10 * time.Second, CustomClientAuthentication: gatekeeper{h},
	}
	if h.options.Listen != "" {
		host, port, err := net.SplitHostPort(h.options.Listen)
		if err != nil {
			return fmt.Errorf("%q is not an address to listen at: %w", h.options.Listen, err)
		}
		if serverOptions.Port, err = strconv.Atoi(port); err != nil || serverOptions.Port < 0 || serverOptions.Port > 65535 {
			return fmt.Errorf("%q is not an address to listen at: host:port", h.options.Listen)
		}
		if serverOptions.Port == 0 { // any free port
			serverOptions.Port = server.RANDOM_PORT
		}
		serverOptions.Host = host
		serverOptions.TLS = true
		serverOptions.TLSTimeout = 5
		serverOptions.TLSConfig = &tls.Config{Certificates: []tls.Certificate{h.options.Cert}, MinVersion: tls.VersionTLS13}
	}
	s, err := server.NewServer(serverOptions)
	if err != nil {
		return fmt.Errorf("start a server of NATS: %w", err)
	}
	h.server = s
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("no server of NATS at %s after 10s: is the address in use?", h.options.Listen)
	}
	return nil
}

// Addr returns the address at which agents join, or "".
func (h *Hub) Addr() string {
	if h.server == nil || h.options.Listen == "" {
		return ""
	}
	return h.server.Addr().String()
}

// gatekeeper lets an agent use only the subjects with its name.
type gatekeeper struct{ h *Hub }

// Check implements server.Authentication. The coordinator has h.secret. An agent that it started has a
// password, another one a token.
func (g gatekeeper) Check(c server.ClientAuthentication) bool {
	h, login := g.h, c.GetOpts()
	if login.Username == coordinator {
		all := &server.SubjectPermission{Allow: []string{h.options.Prefix + ".>", "_INBOX.>"}}
		c.RegisterUser(&server.User{Username: coordinator, Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{">"}}, Subscribe: all}})
		return isSecret(h.secret, login.Password)
	}
	if why := h.admitAgent(login); why != "" {
		addr := "a pipe"
		if a := c.RemoteAddress(); a != nil {
			addr = a.String()
		}
		h.options.Log(fmt.Sprintf("refused %s at %s: %s", format.Line(login.Username, 80), addr, why))
		return false
	}
	s := subjects{h.options.Prefix, login.Username}
	c.RegisterUser(&server.User{Username: login.Username, Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{s.fromAgent("*")}},
		Subscribe: &server.SubjectPermission{Allow: []string{s.toAgent("*"), h.options.Prefix + "." + subjectWho, inboxOf(login.Username) + ".>"}},
		Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
	}})
	h.options.Log(format.Line(login.Username, 80) + " joined")
	return true
}

// admitAgent reserves the name of an agent that joins by itself. It returns why the agent is rejected, or "".
func (h *Hub) admitAgent(login *server.ClientOpts) (why string) {
	if CheckName(login.Username) != nil {
		return "it has no name of an agent"
	}
	h.mu.Lock()
	password, isStarted := h.passwords[login.Username] // started by the coordinator
	h.mu.Unlock()
	if !isStarted {
		password = h.options.Token(login.Username)
	}
	switch {
	case !isSecret(password, login.Password):
		return "its token is not the one of that name"
	case !isStarted && !h.seatClient(login.Username, login.Name):
		return "another agent of that name is connected"
	}
	return ""
}

// isSecret compares passwords in constant time. An empty password is never right.
func isSecret(want, got string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
}

// seat records which client uses the name of an agent. A client may have several connections.
type seat struct {
	client string    // ends in random text
	since  time.Time // time of the last connection
}

// seatClient reserves an agent's name. It fails if another connected client with this name sent a message
// within lostAfter.
func (h *Hub) seatClient(name, client string) bool {
	conns, err := h.server.Connz(&server.ConnzOptions{Username: true, Limit: maxAgents})
	if err != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	taken, isTaken := h.seats[name]
	if isTaken && taken.client != client {
		lastSign := taken.since
		if agent := h.agents[name]; agent != nil && agent.seenAt.After(lastSign) {
			lastSign = agent.seenAt
		}
		isConnected := slices.ContainsFunc(conns.Conns, func(c *server.ConnInfo) bool { return c.Name == taken.client })
		if isConnected && time.Since(lastSign) < h.options.times.lostAfter {
			return false
		}
	}
	h.seats[name] = seat{client, time.Now()}
	for _, c := range conns.Conns { // end connections of the previous client
		if c.AuthorizedUser == name && c.Name != client {
			_ = h.server.DisconnectClientByID(c.Cid)
		}
	}
	return true
}

// inboxOf returns the start of the subjects on which an agent receives replies.
func inboxOf(name string) string { return "_INBOX_" + name }

// subscribe subscribes to the messages of agents, and requests a hello from all of them.
func (h *Hub) subscribe() error {
	results := &parcelReceiver{maxBytes: maxOutcome, take: h.passResult} // joins long messages
	all := subjects{h.options.Prefix, "*"}
	for subject, handle := range map[string]func(name string, m *nats.Msg){
		fromHello:  func(name string, m *nats.Msg) { h.recordHello(name, m.Data) },
		fromPermit: h.passPermit,
		fromFile:   h.serveFile,
		fromTick:   func(name string, m *nats.Msg) { h.passTick(name, m.Data) },
		fromResult: func(name string, m *nats.Msg) {
			h.markSeen(name)
			if h.hasListeners() {
				sendReply(m, results.receivePart(name, m.Data))
			}
		},
	} {
		_, err := h.nc.Subscribe(all.fromAgent(subject), func(m *nats.Msg) {
			if name := cutAround(m.Subject, h.options.Prefix+".from.", "."+subject); CheckName(name) == nil {
				handleSafely(h.options.Log, m, func() { handle(name, m) })
			}
		})
		if err != nil {
			return fmt.Errorf("subscribe to agents: %w", err)
		}
	}
	return errors.Join(h.nc.Flush(), h.nc.Publish(h.options.Prefix+"."+subjectWho, nil))
}

// cutAround removes the prefix before and the suffix after from subject. It returns "" if one is missing.
func cutAround(subject, before, after string) string {
	rest, hasPrefix := strings.CutPrefix(subject, before)
	name, hasSuffix := strings.CutSuffix(rest, after)
	if !hasPrefix || !hasSuffix {
		return ""
	}
	return name
}

// recordHello stores an agent's last hello, and logs the first one with another protocol or name. It ignores
// other texts.
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
			h.options.Log("refused " + err.Error())
		}
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	agent, now := h.findOrAdd(name), time.Now()
	agent.hello, agent.seenAt, agent.helloAt = hello, now, now
}

const (
	maxAgents = 1000
	maxHello  = 16 << 10 // bytes of a hello
)

// findOrAdd returns the state of an agent, which it adds if it is new. Above maxAgents it forgets the agent
// that was silent longest. The caller has locked h.mu.
func (h *Hub) findOrAdd(name string) *agentState {
	if agent := h.agents[name]; agent != nil {
		return agent
	}
	if len(h.agents) >= maxAgents {
		oldest := ""
		for name, agent := range h.agents {
			if oldest == "" || agent.seenAt.Before(h.agents[oldest].seenAt) {
				oldest = name
			}
		}
		delete(h.agents, oldest)
	}
	added := &agentState{seenAt: time.Now()}
	h.agents[name] = added
	return added
}

func (h *Hub) markSeen(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if agent := h.agents[name]; agent != nil {
		agent.seenAt = time.Now()
	}
}

// passPermit passes an agent's request for a round to its run. Without a run it sends no reply, so the agent
// retries.
func (h *Hub) passPermit(name string, m *nats.Msg) {
	var req permitRequest
	if json.Unmarshal(m.Data, &req) != nil {
		sendReply(m, permitReply{Gone: "not a valid question"})
		return
	}
	h.markSeen(name)
	if l := h.findListener(req.Order); l.permit != nil {
		sendReply(m, l.permit(name, req))
	}
}

// passTick passes one second of a load to its run. It drops invalid messages.
func (h *Hub) passTick(name string, text []byte) {
	h.markSeen(name)
	var t Ticked
	if len(text) > maxSecond || json.Unmarshal(text, &t) != nil {
		return
	}
	if l := h.findListener(t.Order); l.tick != nil {
		l.tick(name, t)
	}
}

// passResult passes the outcome of an order to its run. Without a run it returns a busyError: a resumed run
// may accept the outcome later.
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

func (h *Hub) hasListeners() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners) > 0
}

// maxOutcome limits an outcome in bytes. An outcome contains a result document in base64.
const maxOutcome = 128 << 20

// silentFor returns the time since an agent's last message: the longest duration if unknown. If the agent has
// ended, the error is the reason.
func (h *Hub) silentFor(name string) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	agent := h.agents[name]
	switch {
	case agent == nil:
		return math.MaxInt64, nil
	case agent.endReason != nil:
		return 0, agent.endReason
	}
	return time.Since(agent.seenAt), nil
}

// currentOrder returns the order in an agent's last hello, and the time of the hello. An idle agent has the
// order "".
func (h *Hub) currentOrder(name string) (order string, helloAt time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if agent := h.agents[name]; agent != nil {
		return agent.hello.Order, agent.helloAt
	}
	return "", time.Time{}
}

// Agents returns the last hellos of agents with a message within lostAfter, sorted by name.
func (h *Hub) Agents() []Hello {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Hello
	for _, agent := range h.agents {
		if agent.endReason == nil && time.Since(agent.seenAt) < h.options.times.lostAfter {
			out = append(out, agent.hello)
		}
	}
	slices.SortFunc(out, func(a, b Hello) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Await waits until the agent's last message is less than lostAfter old. It fails if the agent has ended.
func (h *Hub) Await(ctx context.Context, name string) error {
	for {
		silent, err := h.silentFor(name)
		switch {
		case err != nil:
			return err
		case silent < h.options.times.lostAfter:
			return nil
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// Reach makes sure that an agent is connected. start starts it, or is nil if it joins by itself. Reach waits
// at most 2*lostAfter.
func (h *Hub) Reach(ctx context.Context, name string, start func(context.Context) error) error {
	if silent, err := h.silentFor(name); err == nil && silent < h.options.times.lostAfter {
		return nil
	}
	if start != nil {
		if err := start(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*h.options.times.lostAfter, fmt.Errorf("no agent of that name joined within %v", 2*h.options.times.lostAfter))
	defer cancel()
	return h.Await(ctx, name)
}

func (h *Hub) markEnded(name string, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if why == nil {
		why = errors.New("the agent ended")
	}
	h.findOrAdd(name).endReason = why
}

// issuePassword returns a new password for an agent that is about to start. It forgets any earlier agent of
// that name.
func (h *Hub) issuePassword(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.passwords[name] = rand.Text()
	delete(h.agents, name)
	return h.passwords[name]
}

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

// findListener finds the run of an order, whose id begins with that of the run and a dot. For an unknown run
// it returns the first listener, which rejects the message. If no run listens, all functions are nil.
func (h *Hub) findListener(order string) listener {
	run, _, _ := strings.Cut(order, ".")
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.listeners {
		if l.run == run {
			return l.listener
		}
	}
	if len(h.listeners) == 0 {
		return listener{}
	}
	return h.listeners[0].listener
}

// sendOrder sends an order to an agent. If the agent is busy or silent, it retries for 2*lostAfter, each time
// as a new parcel.
func (h *Hub) sendOrder(ctx context.Context, name string, o Order) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*h.options.times.lostAfter, fmt.Errorf("it took no order within %v", 2*h.options.times.lostAfter))
	defer cancel()
	for n := 1; ; n++ {
		subject, parcel := subjects{h.options.Prefix, name}.toAgent(toOrder), fmt.Sprintf("%s/%d", o.ID, n)
		err = sendParcel(ctx, h.nc, h.options.times, subject, parcel, text)
		var busy *busyError
		if !errors.As(err, &busy) {
			return err
		}
		if sleep(ctx, h.options.times.retryDelay) != nil {
			return err
		}
	}
}

// sendCancel requests an agent to cancel an order, and does not wait. An agent that misses the message cancels
// later by itself.
func (h *Hub) sendCancel(name, order string) {
	text, _ := json.Marshal(startRequest{Order: order})
	_ = h.nc.Publish(subjects{h.options.Prefix, name}.toAgent(toCancel), text)
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
