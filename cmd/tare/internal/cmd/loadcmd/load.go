// Package loadcmd is tare load: it loads a server, or compares several.
package loadcmd

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

// Command returns the command tare load.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "load URL…",
		Short: "Load a server, or compare several",
		Long: `Send HTTP requests to a server and say what came of them, and what set the
limit: the server, this load generator, or the network between them.

Without --rate the loop is closed: each connection sends its next request when it
has an answer. With --rate it is open: requests are sent at their intended times,
whatever comes back, and latencies count from those times. Timeouts are among the
latencies. Nothing follows a redirect: 3xx are counted. Requests go to the URL's
own host and nowhere else, for an hour at most.

With several URLs, or several --start, servers are compared: in turns, in lockstep
rounds, beside a control (the first one again) and a null server, which
answers at once and does nothing, as tare run does it, and with intervals.

A URL grpc://host:port/package.Service/Method, or grpcs:// for TLS, calls a method of
gRPC. --proto gives the message types; without it tare asks the server (server
reflection).

--start starts your server from a command line in which $PORT stands for a free
port, and later stops it with all its child processes. No shell is used.
For a container: --start 'docker run --rm -p 127.0.0.1:$PORT:80 nginx'.
With --go the command is go run: its program is built once with each of several Go
releases, and the binaries are compared.

Exit codes: 0 measured, whatever the figures; 1 nothing could be measured; 2 bad
input; 130 interrupted; what was measured until then is printed.`,
		Example: `  tare load http://127.0.0.1:8080/v1/id/7
  tare load -c 50 -d 30s --rate 5000/s --slo 'p99<50ms' http://127.0.0.1:8080/
  tare load --slo 'p99<50ms,errors<0.1%' --search :8080
  tare load -X POST -H 'Content-Type: application/json' --body @event.json :8080/events
  tare load --mix 'GET /devices=9' --mix 'POST /devices=1' --body '{"on":true}' :8080
  tare load --delay 20ms --bandwidth 70mbit --preset wrk :8080
  tare load --http 2 --streams 10 -c 5 https://shop.example/
  tare load --proto users.proto --data '{"id":"7"}' grpc://127.0.0.1:8080/users.v1.Users/Get
  tare load --feed access.log --as-recorded --speed 10 http://127.0.0.1:8080
  tare load --feed access.log.1.gz --dry-run http://127.0.0.1:8080
  tare load -d 1m --watch 127.0.0.1:8090 --page load.html :8080
  tare load --handshake resume --cacert ca.pem https://shop.example/
  tare load --rate 6000/s -c 90 --on local,ssh:a,ssh:b http://shop.example/
  tare load --start './old -port $PORT' --start './new -port $PORT' /v1/id/7
  tare load --go go1.26,go1.27 --start 'go run ./cmd/api -port $PORT' /v1/id/7`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parseFlags(cmd, args, env.In); err != nil {
				return err
			}
			return runLoad(cmd.Context(), env, o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

// addFlags declares the flags, which set the first half of o, each with the loads it applies to.
func (o *options) addFlags(cmd *cobra.Command) {
	requests := cmdenv.NewFlags("What is sent")
	requests.Set.StringVarP(&o.source.Method, "method", "X", "", "`METHOD` of requests; default: GET, with a body POST")
	declareUses(requests, "method", several, spread, onlyHTTP)
	requests.Set.StringArrayVarP(&o.source.Headers, "header", "H", nil, "`Name: value` of every request, of gRPC its metadata; repeatable")
	declareUses(requests, "header", several, spread)
	requests.Set.StringVar(&o.source.Body, "body", "", "`text` to send; @FILE sends what a file holds, @- what comes on stdin")
	declareUses(requests, "body", several, spread, onlyHTTP)
	requests.Set.StringVar(&o.source.DataDir, "data-dir", "", "`directory` whose files are the bodies, in turn")
	declareUses(requests, "data-dir", several, spread, onlyHTTP)
	requests.Set.StringVar(&o.source.Feed, "feed", "", "`file` of requests, - for stdin: an access log (common or combined), Caddy's JSON log, a HAR, an OpenAPI document, or on each line {\"method\",\"path\",\"header\",\"body\"}, as in a study. It is recognised by its content, also compressed by gzip, bzip2 or zstd")
	declareUses(requests, "feed", several, spread, onlyHTTP)
	requests.Set.StringVar(&o.source.FeedBodies, "feed-bodies", "", "`file` whose lines are the bodies, in turn; - for stdin")
	declareUses(requests, "feed-bodies", several, spread, onlyHTTP)
	requests.Set.BoolVar(&o.source.Secrets, "with-secrets", false, "send what headers, query parameters and fields of --feed hold that are secrets by their names (Authorization, access_token, password), too")
	declareUses(requests, "with-secrets", spread)
	requests.Set.StringArrayVar(&o.source.Mix, "mix", nil, "`METHOD PATH=WEIGHT`: a share of the requests, e.g. 'GET /a=3'; repeatable, replaces the URL's path")
	declareUses(requests, "mix", several, spread, onlyHTTP)
	requests.Set.StringVar(&o.grpc.proto, "proto", "", "`file` of protocol buffers that has the method of a grpc URL; default: the server is asked (server reflection)")
	declareUses(requests, "proto", several, spread, onlyGRPC)
	requests.Set.StringArrayVar(&o.grpc.imports, "proto-path", nil, "`directory` that --proto imports from, beside its own; repeatable")
	declareUses(requests, "proto-path", several, spread, onlyGRPC)
	requests.Set.StringVar(&o.grpc.data, "data", "{}", "request message as `JSON`, for client streaming an array of them; @FILE has one value for each call, used in turn; @- reads stdin")
	declareUses(requests, "data", several, spread, onlyGRPC)
	requests.Set.DurationVar(&o.grpc.deadline, "deadline", 0, "deadline sent with each call (grpc-timeout); default: none")
	declareUses(requests, "deadline", several, spread, onlyGRPC)
	requests.Set.StringArrayVar(&o.start, "start", nil, "start a server by this `command`, with $PORT for a free port; repeatable")
	declareUses(requests, "start", several)
	o.releases.Add(requests.Set, "build the program of --start 'go run …' with several Go `releases`, e.g. go1.26,go1.27, and compare them")
	declareUses(requests, "go", several)
	requests.Set.BoolVar(&o.dryRun, "dry-run", false, "print the requests, and what would be measured and written, and send nothing; --feed reads what it prints with --json")
	declareUses(requests, "dry-run", several, spread)
	sending := cmdenv.NewFlags("How it is sent")
	sending.Set.IntVarP(&o.connections, "connections", "c", defaultConnections, "number of open connections, each with at most one request in flight (with --search the most to try, default 1024)")
	declareUses(sending, "connections", several, spread)
	sending.Set.StringVar(&o.http, "http", http1, "`version` of HTTP: 1.1, 2 (over TLS by ALPN, in plain text by prior knowledge), or 3 (over QUIC, by engine portable)")
	declareUses(sending, "http", spread, onlyHTTP)
	sending.Set.IntVar(&o.streams, "streams", 1, "with --http 2, --http 3 and gRPC: requests in flight on each connection, at most as many as the server allows")
	declareUses(sending, "streams", spread)
	sending.Set.DurationVarP(&o.duration, "duration", "d", defaultDuration, "how long to measure, at most 1h (3s with --search: each step; 40s with several servers: all rounds together)")
	declareUses(sending, "duration", several, spread)
	sending.Set.Int64VarP(&o.requests, "requests", "n", 0, "measure this many requests instead of a duration")
	declareUses(sending, "requests")
	sending.Set.StringVar(&o.rate, "rate", "", "open loop at `rate`: 5000/s, poisson:5000/s, ramp:100/s..5000/s or step:100/s,500/s over the duration")
	declareUses(sending, "rate", several, spread)
	sending.Set.BoolVar(&o.asRecorded, "as-recorded", false, "open loop at the times of --feed, an access log or a HAR, for as long as they last")
	declareUses(sending, "as-recorded")
	sending.Set.Float64Var(&o.speed, "speed", 1, "with --as-recorded: speed-up factor, e.g. 10")
	declareUses(sending, "speed", onlyRecorded)
	sending.Set.DurationVarP(&o.timeout, "timeout", "t", defaultTimeout, "how long an answer, or a connect, may take")
	declareUses(sending, "timeout", spread)
	sending.Set.DurationVar(&o.warm, "warm", defaultWarm, "how long to send before measuring; default with -n: 0s")
	declareUses(sending, "warm", spread)
	sending.Set.DurationVar(&o.think, "think", 0, "wait between an answer and the next request")
	declareUses(sending, "think", spread)
	sending.Set.IntVar(&o.threads, "threads", 0, "number of sending threads; default: a quarter of the processors, rounded up")
	declareUses(sending, "threads", spread)
	sending.Set.StringVar(&o.engine, "engine", "", "`engine` that sends: epoll (Linux) or portable; default: epoll, or else portable")
	declareUses(sending, "engine", spread)
	sending.Set.BoolVar(&o.insecure, "insecure", false, "take any certificate of an https server")
	declareUses(sending, "insecure", spread, onlyTLS)
	sending.Set.StringVar(&o.cacert, "cacert", "", "trust only the CA certificates in `file` (PEM)")
	declareUses(sending, "cacert", spread, onlyTLS)
	sending.Set.StringVar(&o.handshake, "handshake", handshakeKeep, "`mode` of TLS handshakes: keep (one per connection), full (a full one per request) or resume (one per request, with the ticket of the previous session)")
	declareUses(sending, "handshake", spread, onlyTLS)
	sending.Set.StringVar(&o.tls, "tls", "", "`version` of TLS, 1.2 or 1.3; default: the newest that both can")
	declareUses(sending, "tls", spread, onlyTLS)
	o.on.Add(sending.Set, "load from several `machines` at the same time, ssh:HOST, agent:NAME or local: -c and --rate are for all together")
	for _, flag := range []string{"on", "listen", "nats", "nats-creds", "fleet"} {
		declareUses(sending, flag, spread)
	}
	sending.Set.Uint64Var(&o.seed, "seed", 1, "random seed of a poisson rate's times, and of the order of a comparison")
	declareUses(sending, "seed", several, spread)
	sending.Set.DurationVar(&o.delay, "delay", 0, "time that a relay adds to every round trip, e.g. 20ms")
	declareUses(sending, "delay", several, onlyTCP)
	sending.Set.StringVar(&o.bandwidth, "bandwidth", "", "`bandwidth` of the relay each way, e.g. 70mbit")
	declareUses(sending, "bandwidth", several, onlyTCP)
	sending.Set.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does")
	declareUses(sending, "no-lock", several, spread)
	output := cmdenv.NewFlags("Objectives and output")
	output.Set.StringVar(&o.sloText, "slo", "", "`objectives` that the server must meet, e.g. 'p99<50ms,errors<0.1%'; also p50, p99.9, max, mean")
	declareUses(output, "slo", spread)
	output.Set.BoolVar(&o.search, "search", false, "look for the most requests per second that keep --slo")
	declareUses(output, "search")
	output.Set.StringVar(&o.preset, "preset", "", "print in the format of another `tool`, ab or wrk; ab makes a connection for each request, unless -k")
	declareUses(output, "preset", onlyHTTP)
	output.Set.BoolVarP(&o.keepAlive, "keep-alive", "k", false, "with --preset ab: keep connections")
	declareUses(output, "keep-alive", several, spread)
	output.Set.BoolVar(&o.asJSON, "json", false, "print JSON: a tare.load/1 document, of several servers a tare.result/1")
	declareUses(output, "json", several, spread)
	output.Set.StringVar(&o.page, "page", "", "write `file`, a page with charts: percentiles, latency over time, errors, the limit")
	declareUses(output, "page", spread)
	output.Set.StringVar(&o.metrics, "metrics", "", "write `file`, the figures as OpenMetrics, for Prometheus")
	declareUses(output, "metrics", spread)
	output.Set.StringVar(&o.watch, "watch", "", "serve the page on a loopback `address` while it runs, e.g. 127.0.0.1:8090")
	declareUses(output, "watch")
	cmdenv.AddProgress(output.Set, &o.quiet)
	declareUses(output, "quiet", several, spread)
	declareUses(output, "progress", several, spread)
	cmdenv.AddFlags(cmd, requests, sending, output)
	cmdenv.CompleteFlag(cmd, "preset", cobra.FixedCompletions([]string{presetAB, presetWrk}, cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "engine", cobra.FixedCompletions(engineNames(), cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "handshake", cobra.FixedCompletions(handshakeModes(), cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "http", cobra.FixedCompletions([]string{http1, http2, http3}, cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "tls", cobra.FixedCompletions(slices.Sorted(maps.Keys(versionsOfTLS())), cobra.ShellCompDirectiveNoFileComp))
}

// runLoad loads one server, compares several, or only prints the requests of --dry-run.
func runLoad(ctx context.Context, env cmdenv.Env, o options) error {
	p := session.NewProgress(env, o.quiet)
	defer p.End()
	if o.hint != "" {
		p.Say(o.hint)
	}
	if o.feed != nil {
		describeFeed(o.feed, o.source.Feed, p)
	}
	if o.dryRun {
		return printRequests(ctx, env, o, p)
	}
	if len(o.servers) > 1 {
		return loadSeveral(ctx, env, o, p)
	}
	return loadOne(ctx, env, o, p)
}
