package loadcmd

import (
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/load"
)

// This file declares the flags of tare load, checks that they are valid together, and parses them.

// Defaults of tare load.
const (
	defaultConnections = 10
	defaultDuration    = 10 * time.Second
	defaultStep        = 3 * time.Second  // duration of one step of a search
	defaultComparison  = 40 * time.Second // duration of all rounds of a comparison
	defaultTimeout     = load.DefaultTimeout
	defaultWarm        = time.Second

	minDuration = 100 * time.Millisecond
	maxSearched = 1024 // a search tries at most as many connections, unless -c is set
	maxThreads  = 1024
)

// Values of --http.
const (
	http1 = "1.1"
	http2 = "2"
	http3 = "3"
)

// Values of --preset.
const (
	presetAB  = "ab"
	presetWrk = "wrk"
)

func engineNames() []string { return []string{string(load.Epoll), string(load.Portable)} }

type options struct {
	// These fields are flags. parseFlags sets defaults that depend on other flags.
	source      loadstudy.Requests
	start       []string
	releases    session.ReleaseFlag
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
	grpc        grpcFlags
	asRecorded  bool
	speed       float64
	seed        uint64
	delay       time.Duration
	bandwidth   string
	noLock      bool
	sloText     string
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

	// Values that are valid only after parseFlags.
	servers        []loadServer // never empty; several are compared
	program        goProgram    // program of --start; with --go each server is another release of it
	profile        load.Profile // rate of an open loop; nil for a closed loop
	bitsPerSecond  int64        // bandwidth of the relay each way; 0 means no limit
	slo            load.SLO
	maxConnections int // most connections that a search tries
	trust          loadstudy.Trust
	feed           *traffic.Feed // requests to send; nil for gRPC, whose message types are read later
	hint           string        // one line for stderr, or ""
}

// addFlags declares the flags, in the order of the help. After each flag, declareUses names the loads
// that the flag supports or requires: see [use].
func (o *options) addFlags(cmd *cobra.Command) {
	requests := cmdenv.NewFlags("What is sent")
	o.addHTTPFlags(requests)
	o.addGRPCFlags(requests)
	o.addServerFlags(requests)
	sending := cmdenv.NewFlags("How it is sent")
	o.addPaceFlags(sending)
	o.addEngineFlags(sending)
	o.addTLSFlags(sending)
	o.addMachineFlags(sending)
	output := cmdenv.NewFlags("Objectives and output")
	o.addOutputFlags(output)
	cmdenv.AddFlags(cmd, requests, sending, output)
	cmdenv.CompleteFlag(cmd, "preset", cobra.FixedCompletions([]string{presetAB, presetWrk}, cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "engine", cobra.FixedCompletions(engineNames(), cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "handshake", cobra.FixedCompletions(handshakeModes(), cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "http", cobra.FixedCompletions([]string{http1, http2, http3}, cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "tls", cobra.FixedCompletions(slices.Sorted(maps.Keys(versionsOfTLS())), cobra.ShellCompDirectiveNoFileComp))
}

func (o *options) addHTTPFlags(flags cmdenv.Flags) {
	flags.Set.StringVarP(&o.source.Method, "method", "X", "", "`METHOD` of requests; default: GET, with a body POST")
	declareUses(flags, "method", manyServers, manyMachines, onlyHTTP)
	flags.Set.StringArrayVarP(&o.source.Headers, "header", "H", nil, "`Name: value` of every request, of gRPC its metadata; repeatable")
	declareUses(flags, "header", manyServers, manyMachines)
	flags.Set.StringVar(&o.source.Body, "body", "", "`text` to send; @FILE sends what a file holds, @- what comes on stdin")
	declareUses(flags, "body", manyServers, manyMachines, onlyHTTP)
	flags.Set.StringVar(&o.source.DataDir, "data-dir", "", "`directory` whose files are the bodies, in turn")
	declareUses(flags, "data-dir", manyServers, manyMachines, onlyHTTP)
	flags.Set.StringVar(&o.source.Feed, "feed", "", "`file` of requests, - for stdin: an access log (common or combined), Caddy's JSON log, a HAR, an OpenAPI document, or on each line {\"method\",\"path\",\"header\",\"body\"}, as in a study. It is recognised by its content, also compressed by gzip, bzip2 or zstd. Requests of logs and HARs are sent in the order of their times")
	declareUses(flags, "feed", manyServers, manyMachines, onlyHTTP)
	flags.Set.StringVar(&o.source.FeedBodies, "feed-bodies", "", "`file` whose lines are the bodies, in turn; - for stdin")
	declareUses(flags, "feed-bodies", manyServers, manyMachines, onlyHTTP)
	flags.Set.BoolVar(&o.source.Secrets, "with-secrets", false, "send what headers, query parameters and fields of --feed hold that are secrets by their names (Authorization, access_token, password), too")
	declareUses(flags, "with-secrets", manyMachines)
	flags.Set.StringArrayVar(&o.source.Mix, "mix", nil, "`METHOD PATH=WEIGHT`: a share of the requests, e.g. 'GET /a=3'; repeatable, replaces the URL's path")
	declareUses(flags, "mix", manyServers, manyMachines, onlyHTTP)
}

func (o *options) addGRPCFlags(flags cmdenv.Flags) {
	flags.Set.StringVar(&o.grpc.proto, "proto", "", "`file` of protocol buffers that has the method of a grpc URL; default: the server is asked (server reflection)")
	declareUses(flags, "proto", manyServers, manyMachines, onlyGRPC)
	flags.Set.StringArrayVar(&o.grpc.imports, "proto-path", nil, "`directory` that --proto imports from, in addition to its own; repeatable")
	declareUses(flags, "proto-path", manyServers, manyMachines, onlyGRPC)
	flags.Set.StringVar(&o.grpc.data, "data", "{}", "request message as `JSON`, for client streaming an array of them; @FILE has one value for each call, used in turn; @- reads stdin")
	declareUses(flags, "data", manyServers, manyMachines, onlyGRPC)
	flags.Set.DurationVar(&o.grpc.deadline, "deadline", 0, "deadline sent with each call (grpc-timeout); default: none")
	declareUses(flags, "deadline", manyServers, manyMachines, onlyGRPC)
}

func (o *options) addServerFlags(flags cmdenv.Flags) {
	flags.Set.StringArrayVar(&o.start, "start", nil, "start a server by this `command`, with $PORT for a free port; repeatable")
	declareUses(flags, "start", manyServers)
	o.releases.Add(flags.Set, "build the program of --start 'go run …' with several Go `releases`, e.g. go1.26,go1.27, and compare them")
	declareUses(flags, "go", manyServers)
	flags.Set.BoolVar(&o.dryRun, "dry-run", false, "print the requests, and what would be measured and written, and send nothing; --feed reads what it prints with --json")
	declareUses(flags, "dry-run", manyServers, manyMachines)
}

func (o *options) addPaceFlags(flags cmdenv.Flags) {
	flags.Set.IntVarP(&o.connections, "connections", "c", defaultConnections, "number of open connections, each with at most one request in flight (with --search the most to try, default 1024)")
	declareUses(flags, "connections", manyServers, manyMachines)
	flags.Set.StringVar(&o.http, "http", http1, "`version` of HTTP: 1.1, 2 (over TLS by ALPN, in plain text by prior knowledge), or 3 (over QUIC, by engine portable)")
	declareUses(flags, "http", manyMachines, onlyHTTP)
	flags.Set.IntVar(&o.streams, "streams", 1, "with --http 2, --http 3 and gRPC: requests in flight on each connection, at most as many as the server allows")
	declareUses(flags, "streams", manyMachines)
	flags.Set.DurationVarP(&o.duration, "duration", "d", defaultDuration, "how long to measure, at most 1h (3s with --search: each step; 40s with several servers: all rounds together)")
	declareUses(flags, "duration", manyServers, manyMachines)
	flags.Set.Int64VarP(&o.requests, "requests", "n", 0, "measure this many requests instead of a duration")
	declareUses(flags, "requests")
	flags.Set.StringVar(&o.rate, "rate", "", "open loop at `rate`: 5000/s, poisson:5000/s, ramp:100/s..5000/s or step:100/s,500/s over the duration")
	declareUses(flags, "rate", manyServers, manyMachines)
	flags.Set.BoolVar(&o.asRecorded, "as-recorded", false, "open loop at the times of --feed, an access log or a HAR, for as long as they last")
	declareUses(flags, "as-recorded")
	flags.Set.Float64Var(&o.speed, "speed", 1, "with --as-recorded: speed-up factor, e.g. 10")
	declareUses(flags, "speed", onlyRecorded)
}

func (o *options) addEngineFlags(flags cmdenv.Flags) {
	flags.Set.DurationVarP(&o.timeout, "timeout", "t", defaultTimeout, "how long an answer, or a connect, may take")
	declareUses(flags, "timeout", manyMachines)
	flags.Set.DurationVar(&o.warm, "warm", defaultWarm, "how long to send before measuring; default with -n: 0s")
	declareUses(flags, "warm", manyMachines)
	flags.Set.DurationVar(&o.think, "think", 0, "wait between an answer and the next request")
	declareUses(flags, "think", manyMachines)
	flags.Set.IntVar(&o.threads, "threads", 0, "number of sending threads; default: a quarter of the processors, rounded up")
	declareUses(flags, "threads", manyMachines)
	flags.Set.StringVar(&o.engine, "engine", "", "`engine` that sends: epoll (Linux) or portable; default: epoll, or else portable")
	declareUses(flags, "engine", manyMachines)
}

func (o *options) addTLSFlags(flags cmdenv.Flags) {
	flags.Set.BoolVar(&o.insecure, "insecure", false, "take any certificate of an https server")
	declareUses(flags, "insecure", manyMachines, onlyTLS)
	flags.Set.StringVar(&o.cacert, "cacert", "", "trust only the CA certificates in `file` (PEM)")
	declareUses(flags, "cacert", manyMachines, onlyTLS)
	flags.Set.StringVar(&o.handshake, "handshake", handshakeKeep, "`mode` of TLS handshakes: keep (one per connection), full (a full one per request) or resume (one per request, with the ticket of the previous session)")
	declareUses(flags, "handshake", manyMachines, onlyTLS)
	flags.Set.StringVar(&o.tls, "tls", "", "`version` of TLS, 1.2 or 1.3; default: the newest that both can")
	declareUses(flags, "tls", manyMachines, onlyTLS)
}

func (o *options) addMachineFlags(flags cmdenv.Flags) {
	o.on.Add(flags.Set, "load from several `machines` at the same time, ssh:HOST, agent:NAME or local: -c and --rate are for all together")
	for _, flag := range []string{"on", "listen", "nats", "nats-creds", "fleet"} {
		declareUses(flags, flag, manyMachines)
	}
	flags.Set.Uint64Var(&o.seed, "seed", 1, "random seed of a poisson rate's times, and of the order of a comparison")
	declareUses(flags, "seed", manyServers, manyMachines)
	flags.Set.DurationVar(&o.delay, "delay", 0, "time that a relay adds to every round trip, e.g. 20ms")
	declareUses(flags, "delay", manyServers, onlyTCP)
	flags.Set.StringVar(&o.bandwidth, "bandwidth", "", "`bandwidth` of the relay each way, e.g. 70mbit")
	declareUses(flags, "bandwidth", manyServers, onlyTCP)
	flags.Set.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does")
	declareUses(flags, "no-lock", manyServers, manyMachines)
}

func (o *options) addOutputFlags(flags cmdenv.Flags) {
	flags.Set.StringVar(&o.sloText, "slo", "", "`objectives` that the server must meet, e.g. 'p99<50ms,errors<0.1%'; also p50, p99.9, max, mean")
	declareUses(flags, "slo", manyMachines)
	flags.Set.BoolVar(&o.search, "search", false, "look for the most requests per second that keep --slo")
	declareUses(flags, "search")
	flags.Set.StringVar(&o.preset, "preset", "", "print in the format of another `tool`, ab or wrk; ab makes a connection for each request, unless -k")
	declareUses(flags, "preset", onlyHTTP)
	flags.Set.BoolVarP(&o.keepAlive, "keep-alive", "k", false, "with --preset ab: keep connections")
	declareUses(flags, "keep-alive", manyServers, manyMachines)
	flags.Set.BoolVar(&o.asJSON, "json", false, "print JSON: a tare.load/1 document, of several servers a tare.result/1")
	declareUses(flags, "json", manyServers, manyMachines)
	flags.Set.StringVar(&o.page, "page", "", "write `file`, a page with charts: percentiles, latency over time, errors, the limit")
	declareUses(flags, "page", manyMachines)
	flags.Set.StringVar(&o.metrics, "metrics", "", "write `file`, the figures as OpenMetrics, for Prometheus")
	declareUses(flags, "metrics", manyMachines)
	flags.Set.StringVar(&o.watch, "watch", "", "serve the page on a loopback `address` while it runs, e.g. 127.0.0.1:8090")
	declareUses(flags, "watch")
	cmdenv.AddProgress(flags.Set, &o.quiet)
	declareUses(flags, "quiet", manyServers, manyMachines)
	declareUses(flags, "progress", manyServers, manyMachines)
}

// parseFlags checks all flags and computes the other fields. The order of the steps decides which of
// several mistakes is reported, and later ones need earlier ones.
func (o *options) parseFlags(cmd *cobra.Command, args []string, stdin io.Reader) error {
	changed := cmd.Flags().Changed
	o.source.HasBody = changed("body")
	if err := o.chooseServers(args); err != nil {
		return err
	}
	kind := o.describeKind()
	if err := kind.checkFlags(cmd.Flags()); err != nil {
		return err
	}
	if err := o.grpc.checkDeadline(changed); err != nil {
		return err
	}
	o.setDefaults(changed, kind.manyServers)
	if err := o.checkBounds(changed); err != nil {
		return err
	}
	if err := o.checkCombinations(changed, o.servers[0].target.RPC); err != nil {
		return err
	}
	if o.http == http3 {
		if err := o.checkHTTP3(kind.encrypted); err != nil {
			return err
		}
	}
	if err := o.parseValues(); err != nil {
		return err
	}
	if kind.manyMachines {
		if err := o.checkMachines(); err != nil {
			return err
		}
	}
	o.hint = o.hintAtBodyFile()
	if kind.rpc {
		return o.checkDryCalls()
	}
	return o.readRequests(changed, stdin)
}

func (o *options) chooseServers(args []string) (err error) {
	if o.servers, err = parseServers(args, o.start); err != nil {
		return err
	}
	if o.releases.IsSet() {
		if o.servers, o.program, err = o.splitReleases(); err != nil {
			return err
		}
	}
	if len(o.servers) > 1 && slices.ContainsFunc(o.servers, isRPC) {
		return cmdenv.Usage("servers of gRPC are loaded one at a time", "leave the others out")
	}
	return nil
}

func isRPC(s loadServer) bool { return s.target.RPC }

func (o *options) describeKind() loadKind {
	return loadKind{
		rpc: slices.ContainsFunc(o.servers, isRPC), encrypted: o.servers[0].target.Name != "", quic: o.http == http3,
		recorded: o.asRecorded, manyServers: len(o.servers) > 1, manyMachines: len(o.on.On) > 0,
	}
}

// hintAtBodyFile returns a hint at @FILE if --body is the name of a file, else "".
func (o *options) hintAtBodyFile() string {
	if !o.source.HasBody {
		return ""
	}
	if info, err := os.Stat(o.source.Body); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return fmt.Sprintf("--body %s is sent as text; --body @%s would send what the file holds", o.source.Body, o.source.Body)
}

// checkDryCalls rejects a --dry-run of gRPC without --proto: only the server knows the message types.
func (o *options) checkDryCalls() error {
	if o.dryRun && o.grpc.proto == "" {
		return cmdenv.Usage("--dry-run does not ask the server for the message types of its method", "pass the .proto file with --proto")
	}
	return nil
}

// parseValues parses the flags whose text has a syntax of its own: those of TLS, --rate, --slo and
// --bandwidth.
func (o *options) parseValues() (err error) {
	if o.trust, err = o.readTrust(); err != nil {
		return err
	}
	if o.rate != "" {
		if o.profile, err = load.ParseProfile(o.rate, o.duration); err != nil {
			return cmdenv.Usage("--"+err.Error(), "") // the error begins with the flag's name
		}
	}
	if o.sloText != "" {
		if o.slo, err = load.ParseSLO(o.sloText); err != nil {
			return cmdenv.Usage("--slo: "+err.Error(), "")
		}
	}
	o.bitsPerSecond, err = parseBandwidth(o.bandwidth)
	return err
}

// readRequests reads the requests that are sent over HTTP. For --as-recorded it also computes the open
// loop that repeats their times.
func (o *options) readRequests(changed func(string) bool, stdin io.Reader) (err error) {
	if changed("speed") && (o.speed < 0.001 || o.speed > 1e6 || math.IsNaN(o.speed)) {
		return cmdenv.Usage(fmt.Sprintf("--speed %v is out of bounds", o.speed), "0.001 to 1000000")
	}
	if o.feed, err = o.source.List(o.servers[0].target, stdin); err != nil {
		return err
	}
	isRecorded := o.feed.Kind != traffic.Unknown && !o.feed.Kind.IsTares() // e.g. an access log
	if len(o.servers) > 1 && isRecorded {
		return cmdenv.Usage("a --feed of recorded traffic is for one server", "leave the others out")
	}
	if !o.asRecorded {
		return nil
	}
	if o.feed.RequireTimes(); o.feed.Times == nil {
		return cmdenv.Usage("--as-recorded needs a --feed with times in it", "an access log or a HAR")
	}
	recorded := traffic.Recorded{At: o.feed.Times, Speed: o.speed}
	o.profile, o.threads = recorded, 1 // one thread sends in the order of the file
	if !changed("duration") {
		o.duration = min(max(recorded.Length(), minDuration), load.MaxDuration)
	}
	if !changed("warm") {
		o.warm = 0
	}
	return nil
}

func (o *options) setDefaults(changed func(string) bool, isComparison bool) {
	o.maxConnections = maxSearched
	if changed("connections") {
		o.maxConnections = o.connections
	}
	if !changed("duration") {
		switch {
		case o.search:
			o.duration = defaultStep
		case isComparison:
			o.duration = defaultComparison
		}
	}
	if o.requests > 0 && !changed("warm") {
		o.warm = 0
	}
}

func (o *options) checkBounds(changed func(string) bool) error {
	boundsError := func(flag string, value any, hint string) error {
		return cmdenv.Usage(fmt.Sprintf("--%s %v is out of bounds", flag, value), hint)
	}
	switch {
	case o.connections < 1 || o.connections > tare.MaxConnections:
		return boundsError("connections", o.connections, fmt.Sprintf("1 to %d", tare.MaxConnections))
	case o.http != http1 && o.http != http2 && o.http != http3:
		return cmdenv.Usage(fmt.Sprintf("--http %q is no version", o.http), "1.1, 2 or 3")
	case o.streams < 1 || o.streams > load.MaxStreams:
		return boundsError("streams", o.streams, fmt.Sprintf("1 to %d", load.MaxStreams))
	case o.duration < minDuration || o.duration > load.MaxDuration:
		return boundsError("duration", o.duration, "100ms to 1h")
	case changed("requests") && o.requests < 1:
		return boundsError("requests", o.requests, "at least 1")
	case o.timeout < time.Millisecond || o.timeout > load.MaxDuration:
		return boundsError("timeout", o.timeout, "1ms to 1h")
	case o.warm < 0 || o.warm > load.MaxDuration:
		return boundsError("warm", o.warm, "0s to 1h")
	case o.think < 0 || o.think > load.MaxDuration:
		return boundsError("think", o.think, "0s to 1h")
	case o.delay < 0 || o.delay > time.Minute:
		return boundsError("delay", o.delay, "0s to 1m")
	case o.threads < 0 || o.threads > maxThreads || changed("threads") && o.threads == 0:
		return boundsError("threads", o.threads, fmt.Sprintf("1 to %d", maxThreads))
	case o.engine == "uring":
		return cmdenv.Usage("--engine uring no longer exists", "it measured no faster than epoll: use --engine epoll, or leave it out")
	case o.engine != "" && !slices.Contains(engineNames(), o.engine):
		return cmdenv.Usage(fmt.Sprintf("--engine %q is not an engine", o.engine), "epoll or portable")
	case o.preset != "" && o.preset != presetAB && o.preset != presetWrk:
		return cmdenv.Usage(fmt.Sprintf("--preset %q is not a preset", o.preset), "ab or wrk")
	case o.source.Method != "" && !loadstudy.IsToken(o.source.Method):
		return cmdenv.Usage(fmt.Sprintf("--method %q is not a method", o.source.Method), "e.g. PUT")
	}
	return nil
}

func (o *options) checkCombinations(changed func(string) bool, rpc bool) error {
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
	case o.search && o.sloText == "":
		return cmdenv.Usage("--search needs objectives", "e.g. --slo 'p99<50ms'")
	case o.streams > 1 && o.http == http1 && !rpc:
		return cmdenv.Usage("--streams is for --http 2 and 3", "HTTP/1.1 has one request at a time on each connection: -c")
	case o.streams > 1 && o.engine == string(load.Portable) && o.http != http3:
		return cmdenv.Usage("--engine portable has one stream on each connection", "leave --streams out")
	case o.streams > 1 && o.http == http3 && (o.handshake == string(load.Full) || o.handshake == string(load.Resume)):
		return cmdenv.Usage("--handshake "+o.handshake+" has one request on each connection of HTTP/3", "leave --streams out")
	case o.preset != "" && o.http != http1:
		return cmdenv.Usage(fmt.Sprintf("--preset %s speaks HTTP/1.1", o.preset), "leave --http out")
	case o.keepAlive && o.preset != presetAB:
		return cmdenv.Usage("--keep-alive is for --preset ab", "connections are reused anyway")
	}
	return nil
}

// checkHTTP3 rejects options that HTTP/3 does not have. encrypted means that the URL is https.
func (o *options) checkHTTP3(encrypted bool) error {
	switch {
	case !encrypted:
		return cmdenv.Usage("--http 3 is for https", "HTTP/3 has no plain text")
	case o.engine != "" && o.engine != string(load.Portable):
		return cmdenv.Usage(fmt.Sprintf("--engine %s does not speak HTTP/3", o.engine), "--engine portable does, by quic-go")
	case o.tls != "" && versionsOfTLS()[o.tls] != tls.VersionTLS13:
		return cmdenv.Usage("--http 3 is over TLS 1.3", "leave --tls out")
	}
	return nil
}

// chooseProtocol returns the load generator's protocol for --http. It uses load.H2C also over TLS.
func (o *options) chooseProtocol() load.Protocol {
	switch o.http {
	case http2:
		return load.H2C
	case http3:
		return load.HTTP3
	}
	return load.HTTP1
}

// bandwidthRE matches a bandwidth such as 70mbit or 1.5gbit/s. Its groups are the number and the prefix
// of the unit.
var bandwidthRE = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?)([kmg]?)bit(?:/s)?$`)

// parseBandwidth parses text such as 70mbit to bits per second. It returns 0 for "".
func parseBandwidth(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	const maxBandwidth = 1e12 // bits per second
	invalid := cmdenv.Usage(fmt.Sprintf("--bandwidth %q is not a bandwidth", text), "bits per second, each way, with bit, kbit, mbit or gbit, e.g. 70mbit")
	groups := bandwidthRE.FindStringSubmatch(text)
	if groups == nil {
		return 0, invalid
	}
	number, prefix := groups[1], groups[2]
	x, err := strconv.ParseFloat(number, 64)
	x *= map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[prefix]
	if err != nil || x < 1 || x > maxBandwidth {
		return 0, invalid
	}
	return int64(x), nil
}
