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

// Agent runs the orders of a coordinator, a tare process on another machine, one at a time. It sends hellos
// (messages that it is alive), requests permission before each round of a study, and delivers the outcome.
type Agent struct {
	Hello  Hello  // the same in each hello
	Prefix string // start of all NATS subjects
	Limits Limits
	Load   func() float64   // nil if unknown
	Free   func() Free      // nil if unknown
	Now    func() time.Time // nil means time.Now
	Log    func(string)     // receives joins, orders and rejections

	// Study runs an order and returns its result document.
	Study func(ctx context.Context, o StudyOrder, t Task) ([]byte, error)

	// Claim reserves the machine for a study until release is called. No other process measures then. nil
	// means that there is no other process.
	Claim func(ctx context.Context) (release func(), err error)

	times protocolTimes

	nc       *nats.Conn
	subjects subjects
	mu       sync.Mutex
	order    string // id; "" if idle
	doing    string // order in words; "" if idle
	cancel   context.CancelCauseFunc
	start    chan time.Time // start time of the prepared load; nil before the first load
	ended    bool           // no more orders are accepted
	running  sync.WaitGroup
}

var errCancelled = errors.New("the coordinator gave the order up")

// ServePipe serves the coordinator at the other end of in and out until in ends. First the coordinator sends a
// welcome in one line, and the agent replies with a line. Then in and out carry a NATS connection.
func (a *Agent) ServePipe(ctx context.Context, in io.Reader, out io.Writer) error {
	reader := bufio.NewReader(in)
	line, err := readLine(reader, maxFirstLine)
	if err != nil {
		return err
	}
	var w welcome
	switch err := json.Unmarshal(line, &w); {
	case err != nil:
		return errors.New("rejected: the first line is no welcome")
	case w.Protocol != Protocol:
		return fmt.Errorf("refused: the coordinator speaks %q; this agent speaks %s", format.Line(w.Protocol, 40), Protocol)
	case CheckName(w.Name) != nil: // name and prefix become parts of subjects
		return fmt.Errorf("refused: %w", CheckName(w.Name))
	case CheckPrefix(w.Prefix) != nil:
		return fmt.Errorf("refused: %w", CheckPrefix(w.Prefix))
	}
	a.Hello.Name, a.Prefix = w.Name, w.Prefix
	if _, err := io.WriteString(out, Protocol+"\n"); err != nil { // the agent is ready: NATS begins
		return fmt.Errorf("write to the coordinator: %w", err)
	}
	return a.serve(ctx, "nats://pipe:4222", nats.SetCustomDialer(&pipe{in: reader, out: out}), nats.NoReconnect(), nats.Timeout(pipeTimeout), nats.UserInfo(w.Name, w.Password))
}

// pipeTimeout limits the start of NATS over a pipe. Both machines may be busy.
const pipeTimeout = 30 * time.Second

// maxFirstLine limits the first line in each direction, in bytes.
const maxFirstLine = 4 << 10

func readLine(reader *bufio.Reader, maxBytes int) ([]byte, error) {
	var line []byte
	for {
		b, err := reader.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errors.New("the connection ended before a coordinator spoke")
		case err != nil:
			return nil, fmt.Errorf("read from the coordinator: %w", err)
		case b == '\n':
			return line, nil
		case len(line) == maxBytes:
			return nil, fmt.Errorf("rejected: the first line is longer than %d bytes", maxBytes)
		}
		line = append(line, b)
	}
}

// Join has the address and credentials of a coordinator or NATS cluster.
type Join struct {
	Addr        string // "" if URL is set
	Fingerprint string // SHA-256 of its certificate
	Token       string
	URL         string // NATS cluster
	Creds       string // file with credentials of the cluster; "" for none
}

// ServeJoined joins a coordinator or a cluster and serves until ctx ends. Failed connections
// are retried.
func (a *Agent) ServeJoined(ctx context.Context, j Join) error {
	options := append(lossOptions(), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.Timeout(5*time.Second))
	if j.URL != "" {
		if j.Creds != "" {
			options = append(options, nats.UserCredentials(j.Creds))
		}
		return a.serve(ctx, j.URL, options...)
	}
	options = append(options, nats.UserInfo(a.Hello.Name, j.Token), nats.Secure(&tls.Config{
		InsecureSkipVerify:    true, // verifyFingerprint replaces the verification
		MinVersion:            tls.VersionTLS13,
		VerifyPeerCertificate: verifyFingerprint(j.Fingerprint),
	}))
	return a.serve(ctx, "tls://"+j.Addr, options...)
}

// lossOptions drops a silent connection after 10 to 15 seconds. The kernel's next retransmission may be two
// minutes away.
func lossOptions() []nats.Option {
	return []nats.Option{nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2)}
}

// Fingerprint returns the SHA-256 of a certificate in hexadecimal.
func Fingerprint(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return hex.EncodeToString(sum[:])
}

func verifyFingerprint(fingerprint string) func([][]byte, [][]*x509.Certificate) error {
	return func(raw [][]byte, _ [][]*x509.Certificate) error {
		if len(raw) == 0 || Fingerprint(raw[0]) != fingerprint {
			return errors.New("the coordinator's certificate is not the one of --fingerprint")
		}
		return nil
	}
}

// serve serves over one connection until that is closed or ctx ends. nil means that the coordinator left.
func (a *Agent) serve(ctx context.Context, url string, options ...nats.Option) error {
	if a.times == (protocolTimes{}) {
		a.times = defaultTimes()
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
	options = append(options, nats.Name("tare agent "+name+" "+rand.Text()), nats.ReconnectWait(a.times.rejoinDelay), nats.CustomInboxPrefix(inboxOf(name)),
		nats.ClosedHandler(func(*nats.Conn) { cancel(errCoordinatorLeft) }),
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
	a.nc, a.subjects = nc, subjects{a.Prefix, name}
	a.mu.Unlock()
	if err := a.subscribe(ctx); err != nil {
		return err
	}
	a.sendHellos(ctx)
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.waitForOrder()
	if err := context.Cause(ctx); !errors.Is(err, errCoordinatorLeft) {
		return err
	}
	return nil
}

// waitForOrder waits up to stopTimeout for the end of the running order.
func (a *Agent) waitForOrder() {
	ended := make(chan struct{})
	go func() { a.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(a.times.stopTimeout):
		a.Log("left before its order had ended")
	}
}

var errCoordinatorLeft = errors.New("the coordinator left")

func (a *Agent) sendHellos(ctx context.Context) {
	tick := time.NewTicker(a.times.helloInterval)
	defer tick.Stop()
	for {
		a.sendHello()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (a *Agent) sendHello() {
	h := a.Hello
	h.Protocol, h.Load = Protocol, -1
	if a.Load != nil {
		h.Load = a.Load()
	}
	a.mu.Lock()
	h.Order, h.Doing = a.order, a.doing
	a.mu.Unlock()
	if text, err := json.Marshal(h); err == nil {
		_ = a.nc.Publish(a.subjects.fromAgent(fromHello), text)
	}
}

func (a *Agent) subscribe(ctx context.Context) error {
	// An order may be too long for one message.
	orders := &parcelReceiver{maxBytes: maxOrder, take: func(_ string, body []byte) error { return a.acceptOrder(ctx, body) }}
	for subject, handle := range map[string]nats.MsgHandler{
		a.Prefix + "." + subjectWho: func(*nats.Msg) { a.sendHello() },
		a.subjects.toAgent(toOrder): func(m *nats.Msg) { sendReply(m, orders.receivePart(coordinator, m.Data)) },
		a.subjects.toAgent(toClock): func(m *nats.Msg) { sendReply(m, clockReply{a.Now().UnixNano()}) },
		a.subjects.toAgent(toCancel): func(m *nats.Msg) {
			var s startRequest
			if json.Unmarshal(m.Data, &s) == nil {
				a.cancelOrder(s.Order)
			}
		},
		a.subjects.toAgent(toStart): func(m *nats.Msg) {
			var s startRequest
			if err := json.Unmarshal(m.Data, &s); err != nil {
				sendReply(m, receipt{Refused: "it is no start"})
				return
			}
			sendReply(m, a.startLoad(s))
		},
	} {
		if _, err := a.nc.Subscribe(subject, func(m *nats.Msg) { handleSafely(a.Log, m, func() { handle(m) }) }); err != nil {
			return fmt.Errorf("subscribe to the coordinator: %w", err)
		}
	}
	return nil
}

// acceptOrder checks an order and starts it; a repeated one is no error. It returns a busyError if the agent
// or the machine is busy. agentCtx ends with the agent.
func (a *Agent) acceptOrder(agentCtx context.Context, body []byte) error {
	o, err := a.parseOrder(body)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.order == o.ID:
		return nil // the coordinator has repeated the order
	case a.order != "":
		return &busyError{a.doing}
	case a.ended:
		return &busyError{"the agent is ending"}
	}
	release := func() {}
	if o.Study != nil && a.Claim != nil {
		if release, err = a.Claim(agentCtx); err != nil {
			return &busyError{err.Error()}
		}
	}
	var load *preparedLoad
	if o.Load != nil {
		if load, err = prepareLoad(*o.Load); err != nil {
			return err
		}
		a.start = make(chan time.Time, 1)
	}
	ctx, cancel := context.WithCancelCause(agentCtx)
	a.order, a.doing, a.cancel = o.ID, o.describe(), cancel
	a.Log("began: " + a.doing)
	maxDuration := a.Limits.Duration
	if o.Load != nil {
		maxDuration = 0 // Order.check has limited a load
	}
	a.running.Go(func() { a.Limits.Watch(ctx, a.times.helloInterval, maxDuration, a.readFree, cancel) })
	a.running.Go(func() {
		defer cancel(nil)
		defer release()
		a.runOrder(ctx, agentCtx, o, load)
	})
	return nil
}

// parseOrder checks an order against the limits and the free memory and disk.
func (a *Agent) parseOrder(body []byte) (o Order, err error) {
	if err := json.Unmarshal(body, &o); err != nil {
		return o, errors.New("the order is not one") // no JSON of an Order
	}
	err = o.check(a.Limits)
	if err == nil {
		err = a.Limits.checkFree(a.readFree(), o.fileBytes())
	}
	if err != nil {
		a.Log("refused an order: " + format.Line(err.Error(), format.LineLimit))
	}
	return o, err
}

// runOrder delivers an order's outcome; after a cancellation only a result. ctx ends with the order, agentCtx
// with the agent.
func (a *Agent) runOrder(ctx, agentCtx context.Context, o Order, load *preparedLoad) {
	out := outcome{Order: o.ID}
	var err error
	out.Result, err = a.runSafely(ctx, o, load)
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
		a.deliver(ctx, agentCtx, out)
	}
	a.mu.Lock()
	a.order, a.doing, a.cancel = "", "", nil
	a.mu.Unlock()
	a.Log("ended")
	a.sendHello()
}

func (a *Agent) runSafely(ctx context.Context, o Order, load *preparedLoad) (result []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, errors.New(describePanic(p))
		}
	}()
	if load != nil {
		return a.runLoad(ctx, o.ID, load)
	}
	return a.Study(ctx, *o.Study, a.newTask(o))
}

// deliver sends an outcome until the coordinator replies, or abandonAfter has passed. A stopping agent tries
// for half of stopTimeout.
func (a *Agent) deliver(ctx, agentCtx context.Context, out outcome) {
	text, err := json.Marshal(out)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.times.abandonAfter)
	defer cancel()
	unregister := context.AfterFunc(agentCtx, func() {
		if !a.nc.IsConnected() {
			cancel()
		}
		time.AfterFunc(a.times.stopTimeout/2, cancel)
	})
	defer unregister()
	go func() { // a closed connection does not reopen
		for ctx.Err() == nil && !a.nc.IsClosed() {
			time.Sleep(50 * time.Millisecond)
		}
		cancel()
	}()
	isReported := false
	for {
		err := sendParcel(ctx, a.nc, a.times, a.subjects.fromAgent(fromResult), out.Order, text)
		var busy *busyError
		switch {
		case err == nil:
			return
		case !errors.As(err, &busy):
			a.Log("not delivered: " + format.Line(err.Error(), format.LineLimit))
			return
		case !isReported:
			isReported = true
			a.Log("not delivered yet: " + format.Line(busy.doing, format.LineLimit))
		}
		if sleep(ctx, a.times.helloInterval) != nil { // longer than retryDelay: a result may be large
			a.Log("not delivered: " + format.Line(busy.doing, format.LineLimit))
			return
		}
	}
}

func (a *Agent) newTask(o Order) Task {
	return Task{
		Permit: a.permitRounds(o),
		Fetch:  func(ctx context.Context, f File, out io.Writer) error { return a.fetchFile(ctx, o.ID, f, out) },
	}
}

// permitRounds returns a function that requests another round from the coordinator. It waits until the coordinator
// has one, and fails after abandonAfter without a reply.
func (a *Agent) permitRounds(o Order) lab.Permit {
	return func(ctx context.Context, done int) (bool, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		lastReply := time.Now()
		for {
			var p permitReply
			requestCtx, stop := context.WithTimeout(ctx, a.times.abandonAfter)
			err := request(requestCtx, a.nc, a.times, a.subjects.fromAgent(fromPermit), permitRequest{o.ID, done}, &p)
			stop()
			switch {
			case ctx.Err() != nil:
				return false, context.Cause(ctx)
			case err != nil && time.Since(lastReply) >= a.times.abandonAfter:
				return false, fmt.Errorf("no coordinator for %v", a.times.abandonAfter)
			case err != nil:
				return false, err
			case p.Gone != "":
				return false, fmt.Errorf("the coordinator reports: %s", format.Line(p.Gone, 200))
			case p.End:
				return false, nil
			case p.Round > 0:
				a.mu.Lock()
				a.doing = fmt.Sprintf("%s, round %d", o.describe(), done+1)
				a.mu.Unlock()
				return true, nil
			}
			lastReply = time.Now()
			if err := sleep(ctx, a.times.retryDelay); err != nil {
				return false, err
			}
		}
	}
}

func (a *Agent) cancelOrder(order string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.order == order && a.cancel != nil {
		a.cancel(errCancelled)
	}
}

func (a *Agent) startLoad(s startRequest) receipt {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.order != s.Order || a.start == nil {
		return receipt{Refused: "no such load is prepared"}
	}
	start := time.Now().Add(time.Unix(0, s.At).Sub(a.Now())) // monotonic: later changes of the clock do not matter
	select {
	case a.start <- start:
	default: // the start time is already set
	}
	return receipt{}
}

// pipe is a net.Conn over the agent's stdin and stdout. NATS dials it.
type pipe struct {
	in   io.Reader // coordinator's output
	out  io.Writer // coordinator's input
	used bool
}

// Dial returns p as the connection. Later calls fail: streams that have ended cannot be opened again.
func (p *pipe) Dial(string, string) (net.Conn, error) {
	if p.used {
		return nil, errCoordinatorLeft
	}
	p.used = true
	return p, nil
}

func (p *pipe) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.out.Write(b) }

// Close does nothing: the streams are closed when the process ends.
func (p *pipe) Close() error { return nil }

func (p *pipe) LocalAddr() net.Addr  { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
func (p *pipe) RemoteAddr() net.Addr { return p.LocalAddr() }

// Pipes have no deadlines.
func (p *pipe) SetDeadline(time.Time) error      { return nil }
func (p *pipe) SetReadDeadline(time.Time) error  { return nil }
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }
