package loadcmd

import (
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/load"
)

// Defaults of tare load.
const (
	defaultConnections = 10
	defaultDuration    = 10 * time.Second
	defaultStep        = 3 * time.Second // of a search
	defaultSeveral     = 40 * time.Second
	defaultTimeout     = load.DefaultTimeout
	defaultWarm        = time.Second

	mostSearched = 1024 // connections
	mostThreads  = 1024
)

// Versions of HTTP.
const (
	http1 = "1.1"
	http2 = "2"
	http3 = "3"
)

// Presets.
const (
	presetAB  = "ab"
	presetWrk = "wrk"
)

func engines() []string {
	return []string{string(load.Epoll), string(load.Uring), string(load.Portable)}
}

// words are the flags of tare load as they were written.
type words struct {
	asking      loadstudy.Requests
	start       []string
	connections int
	duration    time.Duration
	requests    int64
	rate        string
	timeout     time.Duration
	warm        time.Duration
	think       time.Duration
	threads     int
	engine      string
	insecure    bool
	cacert      string
	handshake   string
	tls         string
	http        string
	streams     int
	calling     calling
	asRecorded  bool
	speed       float64
	seed        uint64
	delay       time.Duration
	bandwidth   string
	noLock      bool
	slo         string
	search      bool
	preset      string
	keepAlive   bool
	asJSON      bool
	dryRun      bool
	quiet       bool
	page        string
	metrics     string
	watch       string
	on          cmdenv.Machines
}

// options are the flags of tare load, read.
type options struct {
	words
	servers  []loadServer // one, or those to compare
	profile  load.Profile // of an open loop; nil: closed
	bits     int64        // per second each way; zero: as it comes
	slo      load.SLO
	most     int // connections of a search
	trust    loadstudy.Trust
	feed     *traffic.Feed // what is sent; nil: calls of gRPC
	feedFile string        // as --feed names it
	hint     string        // one line for stderr; empty: there is none
}

// read checks every flag and their combinations.
func (w *words) read(cmd *cobra.Command, args []string, stdin io.Reader) (options, error) {
	changed := cmd.Flags().Changed
	w.asking.HasBody = changed("body")
	o := options{most: mostSearched, words: *w}
	servers, err := servers(args, w.start)
	if err != nil {
		return o, err
	}
	o.servers = servers
	rpc := slices.ContainsFunc(servers, func(s loadServer) bool { return s.target.RPC })
	if rpc && len(servers) > 1 {
		return o, cmdenv.Usage("servers of gRPC are loaded one at a time", "leave the others out")
	}
	of := loadKind{
		rpc: rpc, encrypted: servers[0].target.Name != "", quic: w.http == http3, recorded: w.asRecorded,
		several: len(servers) > 1, spread: len(w.on.On) > 0,
	}
	if err := of.check(cmd.Flags()); err != nil {
		return o, err
	}
	if err := w.calling.check(changed); err != nil {
		return o, err
	}
	if changed("connections") {
		o.most = w.connections
	}
	w.defaults(changed, len(servers) > 1)
	if err := w.bounds(changed); err != nil {
		return o, err
	}
	if err := w.combinations(changed, servers[0].target.RPC); err != nil {
		return o, err
	}
	if w.http == http3 {
		if err := w.overQUIC(of.encrypted); err != nil {
			return o, err
		}
	}
	if o.trust, err = w.trust(); err != nil {
		return o, err
	}
	if w.rate != "" {
		if o.profile, err = load.ParseProfile(w.rate, w.duration); err != nil {
			return o, cmdenv.Usage("--"+err.Error(), "")
		}
	}
	if w.slo != "" {
		if o.slo, err = load.ParseSLO(w.slo); err != nil {
			return o, cmdenv.Usage("--slo: "+err.Error(), "")
		}
	}
	if o.bits, err = parseBandwidth(w.bandwidth); err != nil {
		return o, err
	}
	if len(w.on.On) > 0 {
		machines, err := w.on.Check()
		if err == nil {
			err = notOn(o, len(machines))
		}
		if err != nil {
			return o, err
		}
	}
	if info, err := os.Stat(w.asking.Body); w.asking.HasBody && err == nil && info.Mode().IsRegular() {
		o.hint = fmt.Sprintf("--body %s is sent as text; --body @%s would send what the file holds", w.asking.Body, w.asking.Body)
	}
	if rpc && w.dryRun && w.calling.proto == "" {
		return o, cmdenv.Usage("--dry-run asks no server what its method takes", "--proto names the file that says so")
	}
	if !rpc {
		if err := o.readRequests(w, changed, stdin); err != nil {
			return o, err
		}
	}
	o.words = *w
	return o, nil
}

// readRequests reads what is sent over HTTP, and its times with --as-recorded.
func (o *options) readRequests(w *words, changed func(string) bool, stdin io.Reader) (err error) {
	if changed("speed") && (w.speed < 0.001 || w.speed > 1e6 || math.IsNaN(w.speed)) {
		return cmdenv.Usage(fmt.Sprintf("--speed %v is out of bounds", w.speed), "0.001 to 1000000")
	}
	o.feedFile = w.asking.Feed
	if o.feed, err = w.asking.List(o.servers[0].target, stdin); err != nil {
		return err
	}
	if k := o.feed.Kind; len(o.servers) > 1 && k != traffic.Unknown && k != traffic.Lines {
		return cmdenv.Usage("a --feed of recorded traffic is for one server", "leave the others out")
	}
	if !w.asRecorded {
		return nil
	}
	if o.feed.RequireTimes(); o.feed.Times == nil {
		return cmdenv.Usage("--as-recorded needs a --feed with times in it", "an access log or a HAR")
	}
	p := traffic.Recorded{At: o.feed.Times, Speed: w.speed}
	o.profile, w.threads = p, 1 // one thread sends in the order of the file
	if !changed("duration") {
		w.duration = min(max(p.Length(), 100*time.Millisecond), load.MaxDuration)
	}
	if !changed("warm") {
		w.warm = 0
	}
	return nil
}

// defaults fills in what depends on other flags.
func (w *words) defaults(changed func(string) bool, several bool) {
	if !changed("duration") {
		switch {
		case w.search:
			w.duration = defaultStep
		case several:
			w.duration = defaultSeveral
		}
	}
	if w.requests > 0 && !changed("warm") {
		w.warm = 0
	}
}

// bounds refuses flags that are out of bounds by themselves.
func (w *words) bounds(changed func(string) bool) error {
	out := func(flag string, value any, hint string) error {
		return cmdenv.Usage(fmt.Sprintf("--%s %v is out of bounds", flag, value), hint)
	}
	switch {
	case w.connections < 1 || w.connections > tare.MaxConnections:
		return out("connections", w.connections, fmt.Sprintf("1 to %d", tare.MaxConnections))
	case w.http != http1 && w.http != http2 && w.http != http3:
		return cmdenv.Usage(fmt.Sprintf("--http %q is no version", w.http), "1.1, 2 or 3")
	case w.streams < 1 || w.streams > load.MaxStreams:
		return out("streams", w.streams, fmt.Sprintf("1 to %d", load.MaxStreams))
	case w.duration < 100*time.Millisecond || w.duration > load.MaxDuration:
		return out("duration", w.duration, "100ms to 1h")
	case changed("requests") && w.requests < 1:
		return out("requests", w.requests, "at least 1")
	case w.timeout < time.Millisecond || w.timeout > load.MaxDuration:
		return out("timeout", w.timeout, "1ms to 1h")
	case w.warm < 0 || w.warm > load.MaxDuration:
		return out("warm", w.warm, "0s to 1h")
	case w.think < 0 || w.think > load.MaxDuration:
		return out("think", w.think, "0s to 1h")
	case w.delay < 0 || w.delay > time.Minute:
		return out("delay", w.delay, "0s to 1m")
	case w.threads < 0 || w.threads > mostThreads || changed("threads") && w.threads == 0:
		return out("threads", w.threads, fmt.Sprintf("1 to %d", mostThreads))
	case w.engine != "" && !slices.Contains(engines(), w.engine):
		return cmdenv.Usage(fmt.Sprintf("--engine %q is not an engine", w.engine), "epoll, uring or portable")
	case w.preset != "" && w.preset != presetAB && w.preset != presetWrk:
		return cmdenv.Usage(fmt.Sprintf("--preset %q is not a preset", w.preset), "ab or wrk")
	case w.asking.Method != "" && !loadstudy.IsToken(w.asking.Method):
		return cmdenv.Usage(fmt.Sprintf("--method %q is not a method", w.asking.Method), "e.g. PUT")
	}
	return nil
}

// combinations refuses flags that contradict each other.
func (w *words) combinations(changed func(string) bool, rpc bool) error {
	for _, pair := range [][2]string{
		{"requests", "duration"}, {"requests", "rate"}, {"requests", "search"},
		{"think", "rate"}, {"search", "rate"}, {"search", "think"}, {"search", "preset"}, {"json", "preset"},
		{"as-recorded", "rate"}, {"as-recorded", "requests"}, {"as-recorded", "search"}, {"as-recorded", "think"}, {"as-recorded", "threads"},
		{"body", "data-dir"}, {"feed", "body"}, {"feed", "data-dir"}, {"feed", "mix"},
		{"feed-bodies", "body"}, {"feed-bodies", "data-dir"}, {"feed-bodies", "feed"},
	} {
		if changed(pair[0]) && changed(pair[1]) {
			return cmdenv.Usage(fmt.Sprintf("--%s and --%s contradict each other", pair[0], pair[1]), "give one of them")
		}
	}
	switch {
	case w.search && w.slo == "":
		return cmdenv.Usage("--search needs objectives", "e.g. --slo 'p99<50ms'")
	case w.streams > 1 && w.http != http2 && !rpc:
		return cmdenv.Usage("--streams is for --http 2", "others have one request at a time on each connection: -c")
	case w.streams > 1 && w.engine == string(load.Portable):
		return cmdenv.Usage("--engine portable has one stream on each connection", "leave --streams out")
	case w.preset != "" && w.http != http1:
		return cmdenv.Usage(fmt.Sprintf("--preset %s speaks HTTP/1.1", w.preset), "leave --http out")
	case w.keepAlive && w.preset != presetAB:
		return cmdenv.Usage("--keep-alive is for --preset ab", "connections are reused anyway")
	}
	return nil
}

// overQUIC refuses what HTTP/3 does not have; encrypted says that the URL is of https.
func (w *words) overQUIC(encrypted bool) error {
	switch {
	case !encrypted:
		return cmdenv.Usage("--http 3 is for https", "HTTP/3 has no plain text")
	case w.engine != "" && w.engine != string(load.Portable):
		return cmdenv.Usage(fmt.Sprintf("--engine %s does not speak HTTP/3", w.engine), "--engine portable does, by quic-go")
	case w.tls != "" && versionsOfTLS()[w.tls] != tls.VersionTLS13:
		return cmdenv.Usage("--http 3 is over TLS 1.3", "leave --tls out")
	}
	return nil
}

// protocol is what connections speak.
func (w *words) protocol() load.Protocol {
	switch w.http {
	case http2:
		return load.H2C
	case http3:
		return load.HTTP3
	}
	return load.HTTP1
}

var bandwidths = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kmg]?)bit(?:/s)?$`)

// parseBandwidth reads 70mbit as bits per second.
func parseBandwidth(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	const most = 1e12
	wrong := cmdenv.Usage(fmt.Sprintf("--bandwidth %q is not a bandwidth", text), "bits per second, each way, with bit, kbit, mbit or gbit, e.g. 70mbit")
	m := bandwidths.FindStringSubmatch(text)
	if m == nil {
		return 0, wrong
	}
	x, err := strconv.ParseFloat(m[1], 64)
	x *= map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[m[2]]
	if err != nil || x < 1 || x > most {
		return 0, wrong
	}
	return int64(x), nil
}
