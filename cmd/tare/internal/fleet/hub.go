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
	Prefix string                   // of subjects; empty: DefaultPrefix
	Listen string                   // host:port where agents join; empty: only those it starts
	Cert   tls.Certificate          // with Listen
	Token  func(name string) string // that an agent of the name shows to join; "": none joins under it
	URL    string                   // of a cluster of NATS; empty: a server of its own
	Creds  string                   // file with credentials of that cluster; empty: none
	Log    func(string)             // joins and refusals, a line each; nil: nobody reads them
	times  times                    // zero: the usual ones
}

// Hub is a coordinator's side of NATS.
type Hub struct {
	o      HubOptions
	nc     *nats.Conn
	server *server.Server // nil: a cluster of somebody's
	secret string         // of the coordinator's own connection

	mu        sync.Mutex
	seats     map[string]seat   // by name of agents that joined
	rights    map[string]string // password of agents that were started, by name
	agents    map[string]*known
	listeners []listening
}

// listener is told what agents send of the orders of one run.
type listener struct {
	ask    func(name string, q asking) permit
	file   func(name string, q fetching) fetched
	tick   func(name string, text []byte)
	result func(name string, o outcome) error
}

// listening is a listener and the run whose orders it is told of.
type listening struct {
	run string
	listener
}

// known is an agent that was heard of.
type known struct {
	hello Hello
	at    time.Time // of the last word
	said  time.Time // when hello was heard
	gone  error     // why its process ended; nil: it has not
}

// Open starts the server, or connects to the cluster.
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
	if o.times == (times{}) {
		o.times = usualTimes()
	}
	h := &Hub{o: o, seats: map[string]seat{}, rights: map[string]string{}, agents: map[string]*known{}, secret: rand.Text()}
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
	common := []nats.Option{nats.Name("tare " + coordinator), nats.MaxReconnects(-1), nats.ReconnectWait(h.o.times.again), nats.RetryOnFailedConnect(false)}
	if h.o.URL != "" {
		common = append(common, noticeLoss()...)
		if h.o.Creds != "" {
			common = append(common, nats.UserCredentials(h.o.Creds))
		}
		var err error
		if h.nc, err = nats.Connect(h.o.URL, common...); err != nil {
			return fmt.Errorf("connect to NATS at %s: %w", format.Line(h.o.URL, 200), err)
		}
		return nil
	}
	if err := h.serve(); err != nil {
		return err
	}
	nc, err := nats.Connect("", append(common, nats.InProcessServer(h.server), nats.UserInfo(coordinator, h.secret))...)
	if err != nil {
		return fmt.Errorf("connect to the server within: %w", err)
	}
	h.nc = nc
	return nil
}

// serve starts a server, which listens only where agents are to join.
func (h *Hub) serve() error {
	o := &server.Options{
		ServerName: "tare", DontListen: h.o.Listen == "", NoSigs: true, NoLog: true, NoSystemAccount: true,
		MaxPayload: maxMessage, MaxPending: 64 << 20, MaxConn: maxAgents, MaxSubs: 100, PingInterval: pipeBegins, MaxPingsOut: 2,
		DisableShortFirstPing: true, // a client that has not begun takes a ping for an error
		AuthTimeout:           pipeBegins.Seconds(), WriteDeadline: 10 * time.Second, CustomClientAuthentication: gatekeeper{h},
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

// Addr is where agents join; empty: nowhere.
func (h *Hub) Addr() string {
	if h.server == nil || h.o.Listen == "" {
		return ""
	}
	return h.server.Addr().String()
}

// gatekeeper lets agents in, each to its own subjects.
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
	password, own := h.rights[o.Username]
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
		Publish:   &server.SubjectPermission{Allow: []string{s.from("*")}},
		Subscribe: &server.SubjectPermission{Allow: []string{s.to("*"), h.o.Prefix + "." + subjectWho, inboxOf(o.Username) + ".>"}},
		Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
	}})
	h.o.Log(format.Line(o.Username, 80) + " joined")
	return true
}

// seat is the client that has a name: a process, whatever connections it makes.
type seat struct {
	client string
	since  time.Time
}

// seatClient gives a name to a client. It returns false if the name is taken: by another
// client that is connected, and was heard of or came lately.
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
		if k := h.agents[name]; k != nil && k.at.After(last) {
			last = k.at
		}
		if time.Since(last) < h.o.times.patience && slices.ContainsFunc(conns.Conns, func(c *server.ConnInfo) bool { return c.Name == s.client }) {
			return false
		}
	}
	h.seats[name] = seat{client, time.Now()}
	for _, c := range conns.Conns { // a connection that was lost unnoticed, of the client before
		if c.AuthorizedUser == name && c.Name != client {
			_ = h.server.DisconnectClientByID(c.Cid)
		}
	}
	return true
}

// inboxOf begins the subjects on which an agent gets replies.
func inboxOf(name string) string { return "_INBOX_" + name }

func (h *Hub) subscribe() error {
	results := &desk{most: maxOutcome, take: h.result}
	all := subjects{h.o.Prefix, "*"}
	for subject, take := range map[string]func(name string, m *nats.Msg){
		fromHello: func(name string, m *nats.Msg) { h.hello(name, m.Data) },
		fromPermit: func(name string, m *nats.Msg) {
			var q asking
			if json.Unmarshal(m.Data, &q) != nil {
				reply(m, permit{Gone: "the question is none"})
				return
			}
			h.heard(name)
			if l := h.listener(q.Order); l.ask != nil { // else it is asked again, until a run begins
				reply(m, l.ask(name, q))
			}
		},
		fromFile: h.serveFile,
		fromTick: func(name string, m *nats.Msg) {
			h.heard(name)
			if l := h.listener(""); l.tick != nil {
				l.tick(name, m.Data)
			}
		},
		fromResult: func(name string, m *nats.Msg) {
			h.heard(name)
			if h.wanted() {
				reply(m, results.part(name, m.Data))
			}
		},
	} {
		_, err := h.nc.Subscribe(all.from(subject), func(m *nats.Msg) {
			if name := between(m.Subject, h.o.Prefix+".from.", "."+subject); CheckName(name) == nil {
				survive(h.o.Log, m, func() { take(name, m) })
			}
		})
		if err != nil {
			return fmt.Errorf("subscribe to agents: %w", err)
		}
	}
	return errors.Join(h.nc.Flush(), h.nc.Publish(h.o.Prefix+"."+subjectWho, nil))
}

// between is what a subject has between two texts.
func between(subject, before, after string) string {
	if len(subject) < len(before)+len(after) || subject[:len(before)] != before || subject[len(subject)-len(after):] != after {
		return ""
	}
	return subject[len(before) : len(subject)-len(after)]
}

// hello takes in what an agent says of itself.
func (h *Hub) hello(name string, text []byte) {
	var said Hello
	if len(text) > 16<<10 || json.Unmarshal(text, &said) != nil {
		return
	}
	if err := said.check(name); err != nil {
		h.mu.Lock()
		first := h.agents[name] == nil
		if first {
			h.know(name).gone = err
		}
		h.mu.Unlock()
		if first {
			h.o.Log("refused " + err.Error())
		}
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	k, now := h.know(name), time.Now()
	k.hello, k.at, k.said = said, now, now
}

// maxAgents is how many agents a coordinator has, and remembers.
const maxAgents = 1000

// know is what is known of an agent. Of too many, the one that was not heard of for
// longest is forgotten. The caller holds the lock.
func (h *Hub) know(name string) *known {
	k := h.agents[name]
	if k == nil {
		if len(h.agents) >= maxAgents {
			oldest := ""
			for name, k := range h.agents {
				if oldest == "" || k.at.Before(h.agents[oldest].at) {
					oldest = name
				}
			}
			delete(h.agents, oldest)
		}
		k = &known{at: time.Now()}
		h.agents[name] = k
	}
	return k
}

// heard notes a word of an agent that has said hello.
func (h *Hub) heard(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.agents[name]; k != nil {
		k.at = time.Now()
	}
}

// result takes in what came of an order.
func (h *Hub) result(name string, body []byte) error {
	var o outcome
	if err := json.Unmarshal(body, &o); err != nil {
		return errors.New("it is not a result")
	}
	l := h.listener(o.Order)
	if l.result == nil {
		return &busyError{"no run is under way"} // one that goes on may want it
	}
	return l.result(name, o)
}

// wanted reports whether anybody listens.
func (h *Hub) wanted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners) > 0
}

// maxOutcome is the longest outcome, in bytes: a document in base64.
const maxOutcome = 128 << 20

// silent is for how long an agent was not heard of, or why it never will be.
func (h *Hub) silent(name string) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.agents[name]
	switch {
	case k == nil:
		return time.Duration(1<<63 - 1), nil
	case k.gone != nil:
		return 0, k.gone
	}
	return time.Since(k.at), nil
}

// doing is the order that an agent said it carries out (empty: none), and when.
func (h *Hub) doing(name string) (order string, said time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.agents[name]; k != nil {
		return k.hello.Order, k.said
	}
	return "", time.Time{}
}

// Agents are those that were heard of lately, by name.
func (h *Hub) Agents() []Hello {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Hello
	for _, k := range h.agents {
		if k.gone == nil && time.Since(k.at) < h.o.times.patience {
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

// Await waits until an agent says hello.
func (h *Hub) Await(ctx context.Context, name string) error {
	for {
		silent, err := h.silent(name)
		switch {
		case err != nil:
			return err
		case silent < h.o.times.patience:
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Reach sees that an agent is there: start starts it where it is not; nil: it joins
// by itself.
func (h *Hub) Reach(ctx context.Context, name string, start func(context.Context) error) error {
	if silent, err := h.silent(name); err == nil && silent < h.o.times.patience {
		return nil
	}
	if start != nil {
		if err := start(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*h.o.times.patience, fmt.Errorf("no agent of that name joined within %v", 2*h.o.times.patience))
	defer cancel()
	return h.Await(ctx, name)
}

// ended notes that an agent's process is over.
func (h *Hub) ended(name string, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if why == nil {
		why = errors.New("the agent ended")
	}
	h.know(name).gone = why
}

// right lets an agent in that is about to be started, and returns its password.
func (h *Hub) right(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rights[name] = rand.Text()
	delete(h.agents, name)
	return h.rights[name]
}

// listen has l told what agents send of the orders of a run, until stop is called.
func (h *Hub) listen(run string, l listener) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners = append(h.listeners, listening{run, l})
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.listeners = slices.DeleteFunc(h.listeners, func(o listening) bool { return o.run == run })
	}
}

// listener is who is told of an order: of one that nobody gave anybody, who
// refuses it. It is empty where nobody listens yet.
func (h *Hub) listener(order string) listener {
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

// order gives an agent an order. It waits for one that is busy, or cannot be
// reached, for a while.
func (h *Hub) order(ctx context.Context, name string, o Order) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*h.o.times.patience, fmt.Errorf("it took no order within %v", 2*h.o.times.patience))
	defer cancel()
	for n := 1; ; n++ {
		var busy *busyError
		if err = send(ctx, h.nc, h.o.times, subjects{h.o.Prefix, name}.to(toOrder), fmt.Sprintf("%s/%d", o.ID, n), text); !errors.As(err, &busy) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(h.o.times.again):
		}
	}
}

// cancel has an agent give an order up.
func (h *Hub) cancel(name, order string) {
	text, _ := json.Marshal(started{Order: order})
	_ = h.nc.Publish(subjects{h.o.Prefix, name}.to(toCancel), text)
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
