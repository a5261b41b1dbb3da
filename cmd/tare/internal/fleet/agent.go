package fleet

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
)

// Agent does on its machine what a coordinator orders, one order at a time.
type Agent struct {
	Hello  Hello // what stays the same; Name is the agent's
	Prefix string
	Limits Limits
	Load   func() float64   // of this machine, now; nil: not known
	Free   func() Free      // of this machine, now; nil: not known
	Now    func() time.Time // nil: time.Now
	Log    func(string)     // joins, orders and refusals, a line each

	// Study carries an order out and returns its result, a document.
	Study func(ctx context.Context, o StudyOrder, t Task) ([]byte, error)

	// Claim has the machine to this agent for a study, until release is called. Nil:
	// nobody else measures on it.
	Claim func(ctx context.Context) (release func(), err error)

	times times

	nc     *nats.Conn
	of     subjects
	mu     sync.Mutex
	order  string // that is under way; empty: none
	doing  string
	cancel context.CancelCauseFunc
	start  chan time.Time // of the load that is prepared
	ended  bool           // it takes no order any more
	all    sync.WaitGroup
}

// errCancelled says that the coordinator gave the order up.
var errCancelled = errors.New("the coordinator gave the order up")

// ServePipe serves a coordinator that is at the other end of in and out, until in
// ends.
func (a *Agent) ServePipe(ctx context.Context, in io.Reader, out io.Writer) error {
	from := bufio.NewReader(in)
	line, err := readLine(from, 4<<10)
	if err != nil {
		return err
	}
	var w welcome
	switch err := json.Unmarshal(line, &w); {
	case err != nil:
		return errors.New("refused: the first line is no welcome")
	case w.Protocol != Protocol:
		return fmt.Errorf("refused: the coordinator speaks %q; this agent speaks %s", format.Line(w.Protocol, 40), Protocol)
	case CheckName(w.Name) != nil:
		return fmt.Errorf("refused: %w", CheckName(w.Name))
	case CheckPrefix(w.Prefix) != nil:
		return fmt.Errorf("refused: %w", CheckPrefix(w.Prefix))
	}
	a.Hello.Name, a.Prefix = w.Name, w.Prefix
	if _, err := io.WriteString(out, Protocol+"\n"); err != nil { // it is there: NATS begins
		return fmt.Errorf("write to the coordinator: %w", err)
	}
	return a.serve(ctx, "nats://pipe:4222", nats.SetCustomDialer(&pipe{in: from, out: out}), nats.NoReconnect(), nats.Timeout(pipeBegins), nats.UserInfo(w.Name, w.Password))
}

// pipeBegins is how long an agent and its coordinator have to begin with NATS: both
// may be busy.
const pipeBegins = 30 * time.Second

// readLine reads one line of a bounded length.
func readLine(from *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		b, err := from.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errors.New("the connection ended before a coordinator spoke")
		case err != nil:
			return nil, fmt.Errorf("read from the coordinator: %w", err)
		case b == '\n':
			return line, nil
		case len(line) == most:
			return nil, fmt.Errorf("refused: the first line is longer than %d bytes", most)
		}
		line = append(line, b)
	}
}

// Join is where a coordinator is, and how it is known.
type Join struct {
	Addr        string // host:port of a coordinator; empty: URL
	Fingerprint string // SHA-256 of its certificate, in hexadecimal
	Token       string
	URL         string // of a cluster of NATS
	Creds       string // file with credentials of that; empty: none
}

// ServeJoined joins a coordinator or a cluster and serves until ctx ends: what
// cannot be reached is tried again.
func (a *Agent) ServeJoined(ctx context.Context, j Join) error {
	common := append(noticeLoss(), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.Timeout(5*time.Second))
	if j.URL != "" {
		if j.Creds != "" {
			common = append(common, nats.UserCredentials(j.Creds))
		}
		return a.serve(ctx, j.URL, common...)
	}
	common = append(common, nats.UserInfo(a.Hello.Name, j.Token), nats.Secure(&tls.Config{
		InsecureSkipVerify:    true, // the fingerprint is what counts
		MinVersion:            tls.VersionTLS13,
		VerifyPeerCertificate: pinned(j.Fingerprint),
	}))
	return a.serve(ctx, "tls://"+j.Addr, common...)
}

// noticeLoss makes a client give up a connection that has not answered for 10 to 15
// seconds, and connect again. Otherwise it would wait for the kernel's next
// retransmission, which after a long outage can be up to two minutes away.
func noticeLoss() []nats.Option {
	return []nats.Option{nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2)}
}

// Fingerprint is the SHA-256 of a certificate, in hexadecimal.
func Fingerprint(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return hex.EncodeToString(sum[:])
}

// pinned takes the certificate of one fingerprint only.
func pinned(fingerprint string) func([][]byte, [][]*x509.Certificate) error {
	return func(raw [][]byte, _ [][]*x509.Certificate) error {
		if len(raw) == 0 || Fingerprint(raw[0]) != fingerprint {
			return errors.New("the coordinator's certificate is not the one of --fingerprint")
		}
		return nil
	}
}

// serve serves over one connection of NATS until that is closed or ctx ends.
func (a *Agent) serve(ctx context.Context, url string, options ...nats.Option) error {
	if a.times == (times{}) {
		a.times = usualTimes()
	}
	if a.Log == nil {
		a.Log = func(string) {}
	}
	if a.Now == nil {
		a.Now = time.Now
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	name := a.Hello.Name
	options = append(options, nats.Name("tare agent "+name+" "+rand.Text()), nats.ReconnectWait(a.times.rejoin), nats.CustomInboxPrefix(inboxOf(name)),
		nats.ClosedHandler(func(*nats.Conn) { cancel(errLeft) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { a.Log(format.Line(err.Error(), format.LineLimit)) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				a.Log("no coordinator: " + format.Line(err.Error(), format.LineLimit))
			}
		}),
		nats.ConnectHandler(func(*nats.Conn) { a.Log("joined as " + name) }),
		nats.ReconnectHandler(func(*nats.Conn) { a.Log("joined again as " + name) }))
	nc, err := nats.Connect(url, options...)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	defer nc.Close()
	a.mu.Lock()
	a.nc, a.of = nc, subjects{a.Prefix, name}
	a.mu.Unlock()
	if err := a.subscribe(ctx); err != nil {
		return err
	}
	a.greet(ctx)
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.part()
	if err := context.Cause(ctx); !errors.Is(err, errLeft) {
		return err
	}
	return nil
}

// part waits until the order is over, which was cancelled with the agent, for a while.
func (a *Agent) part() {
	over := make(chan struct{})
	go func() { a.all.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(a.times.parting):
		a.Log("left before its order had ended")
	}
}

// errLeft says that the connection was closed: the coordinator is gone.
var errLeft = errors.New("the coordinator left")

// greet says hello until ctx ends.
func (a *Agent) greet(ctx context.Context) {
	tick := time.NewTicker(a.times.hello)
	defer tick.Stop()
	for {
		a.hello()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (a *Agent) hello() {
	h := a.Hello
	h.Protocol, h.Load = Protocol, -1
	if a.Load != nil {
		h.Load = a.Load()
	}
	a.mu.Lock()
	h.Order, h.Doing = a.order, a.doing
	a.mu.Unlock()
	if text, err := json.Marshal(h); err == nil {
		_ = a.nc.Publish(a.of.from(fromHello), text)
	}
}

func (a *Agent) subscribe(ctx context.Context) error {
	orders := &desk{most: maxOrder, take: func(_ string, body []byte) error { return a.take(ctx, body) }}
	for subject, take := range map[string]nats.MsgHandler{
		a.Prefix + "." + subjectWho: func(*nats.Msg) { a.hello() },
		a.of.to(toOrder):            func(m *nats.Msg) { reply(m, orders.part(coordinator, m.Data)) },
		a.of.to(toClock):            func(m *nats.Msg) { reply(m, clocked{a.Now().UnixNano()}) },
		a.of.to(toCancel): func(m *nats.Msg) {
			var s started
			if json.Unmarshal(m.Data, &s) == nil {
				a.giveUp(s.Order)
			}
		},
		a.of.to(toStart): func(m *nats.Msg) {
			var s started
			if err := json.Unmarshal(m.Data, &s); err != nil {
				reply(m, receipt{Refused: "it is no start"})
				return
			}
			reply(m, a.begin(s))
		},
	} {
		if _, err := a.nc.Subscribe(subject, func(m *nats.Msg) { survive(a.Log, m, func() { take(m) }) }); err != nil {
			return fmt.Errorf("subscribe to the coordinator: %w", err)
		}
	}
	return nil
}

// take takes an order in, or says why not.
func (a *Agent) take(ctx context.Context, body []byte) error {
	var o Order
	if err := json.Unmarshal(body, &o); err != nil {
		return errors.New("the order is not one")
	}
	err := o.check(a.Limits)
	if err == nil {
		err = a.Limits.keeps(a.free(), o.size())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil && a.order == o.ID:
		return nil // it is under way
	case err == nil && a.order != "":
		return &busyError{a.doing}
	case err == nil && a.ended:
		return &busyError{"the agent is ending"}
	}
	if err != nil {
		a.Log("refused an order: " + format.Line(err.Error(), format.LineLimit))
		return err
	}
	release := func() {}
	if o.Study != nil && a.Claim != nil {
		if release, err = a.Claim(ctx); err != nil {
			return &busyError{err.Error()}
		}
	}
	var load *loading
	if o.Load != nil {
		if load, err = prepare(*o.Load); err != nil {
			return err
		}
		a.start = make(chan time.Time, 1)
	}
	serving := ctx
	ctx, cancel := context.WithCancelCause(serving)
	a.order, a.doing, a.cancel = o.ID, o.what(), cancel
	a.Log("began: " + a.doing)
	most := a.Limits.Duration
	if o.Load != nil {
		most = 0 // its duration was checked
	}
	a.all.Go(func() { a.watch(ctx, most, cancel) })
	a.all.Go(func() {
		defer cancel(nil)
		defer release()
		a.work(ctx, serving, o, load)
	})
	return nil
}

// work carries an order out and delivers what came of it. The agent stops when serving
// ends.
func (a *Agent) work(ctx, serving context.Context, o Order, load *loading) {
	out := outcome{Order: o.ID}
	var err error
	out.Result, err = a.carryOut(ctx, o, load)
	var nothing *NothingError
	out.Nothing = errors.As(err, &nothing)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		out.Error = format.Line(err.Error(), format.LineLimit)
		a.Log("failed: " + out.Error)
	}
	if !errors.Is(err, errCancelled) || out.Result != nil {
		a.deliver(ctx, serving, out)
	}
	a.mu.Lock()
	a.order, a.doing, a.cancel = "", "", nil
	a.mu.Unlock()
	a.Log("ended")
	a.hello()
}

// carryOut carries an order out. A panic is the order's error.
func (a *Agent) carryOut(ctx context.Context, o Order, load *loading) (result []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, errors.New(panicked(p))
		}
	}()
	if load != nil {
		return a.load(ctx, o.ID, load)
	}
	return a.Study(ctx, *o.Study, a.task(o))
}

// deliver sends an outcome until the coordinator has it, refuses it, or has not taken
// it for too long. If the agent stops, that is half of the time that is left, and no time
// without a connection.
func (a *Agent) deliver(ctx, serving context.Context, out outcome) {
	text, err := json.Marshal(out)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.times.forsaken)
	defer cancel()
	defer context.AfterFunc(serving, func() {
		if !a.nc.IsConnected() {
			cancel()
		}
		time.AfterFunc(a.times.parting/2, cancel)
	})()
	go func() { // a pipe that has ended does not come back
		for ctx.Err() == nil && !a.nc.IsClosed() {
			time.Sleep(50 * time.Millisecond)
		}
		cancel()
	}()
	for first := true; ; first = false {
		err := send(ctx, a.nc, a.times, a.of.from(fromResult), out.Order, text)
		var busy *busyError
		switch {
		case err == nil:
			return
		case !errors.As(err, &busy):
			a.Log("not delivered: " + format.Line(err.Error(), format.LineLimit))
			return
		case first:
			a.Log("not delivered yet: " + format.Line(busy.doing, format.LineLimit))
		}
		select {
		case <-ctx.Done():
			a.Log("not delivered: " + format.Line(busy.doing, format.LineLimit))
			return
		case <-time.After(a.times.hello): // a result is long: it is not sent as often as a question
		}
	}
}

// task is what an order may ask the coordinator for.
func (a *Agent) task(o Order) Task {
	return Task{Permit: a.permit(o), Fetch: func(ctx context.Context, f File, out io.Writer) error { return a.fetch(ctx, o.ID, f, out) }}
}

// permit asks the coordinator for each round.
func (a *Agent) permit(o Order) lab.Permit {
	return func(ctx context.Context, done int) (bool, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		last := time.Now()
		for {
			var p permit
			one, stop := context.WithTimeout(ctx, a.times.forsaken)
			err := ask(one, a.nc, a.times, a.of.from(fromPermit), asking{o.ID, done}, &p)
			stop()
			switch {
			case ctx.Err() != nil:
				return false, context.Cause(ctx)
			case err != nil && time.Since(last) >= a.times.forsaken:
				return false, fmt.Errorf("no coordinator for %v", a.times.forsaken)
			case err != nil:
				return false, err
			case p.Gone != "":
				return false, fmt.Errorf("the coordinator says: %s", format.Line(p.Gone, 200))
			case p.End:
				return false, nil
			case p.Round > 0:
				a.mu.Lock()
				a.doing = fmt.Sprintf("%s, round %d", o.what(), done+1)
				a.mu.Unlock()
				return true, nil
			}
			last = time.Now()
			select {
			case <-ctx.Done():
				return false, context.Cause(ctx)
			case <-time.After(a.times.again):
			}
		}
	}
}

// giveUp ends an order that is under way.
func (a *Agent) giveUp(order string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.order == order && a.cancel != nil {
		a.cancel(errCancelled)
	}
}

// begin says when the load that is prepared begins.
func (a *Agent) begin(s started) receipt {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.order != s.Order || a.start == nil {
		return receipt{Refused: "no such load is prepared"}
	}
	at := time.Now().Add(time.Unix(0, s.At).Sub(a.Now())) // by a clock that nobody sets
	select {
	case a.start <- at:
	default: // it was told before
	}
	return receipt{}
}

// pipe is a connection through stdin and stdout, which is made once.
type pipe struct {
	in   io.Reader
	out  io.Writer
	used bool
}

// Dial returns the one connection.
func (p *pipe) Dial(string, string) (net.Conn, error) {
	if p.used {
		return nil, errLeft
	}
	p.used = true
	return p, nil
}

// Read reads what the coordinator sends.
func (p *pipe) Read(b []byte) (int, error) { return p.in.Read(b) }

// Write writes to the coordinator.
func (p *pipe) Write(b []byte) (int, error) { return p.out.Write(b) }

// Close leaves the streams to the process.
func (p *pipe) Close() error { return nil }

// LocalAddr and what follows are for [net.Conn].
func (p *pipe) LocalAddr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// RemoteAddr is the same.
func (p *pipe) RemoteAddr() net.Addr { return p.LocalAddr() }

// SetDeadline does nothing: pipes have none.
func (p *pipe) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (p *pipe) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }
