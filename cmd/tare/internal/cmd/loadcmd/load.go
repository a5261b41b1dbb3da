// Package loadcmd implements tare load: it loads a server, or compares several.
package loadcmd

import (
	"context"

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
		Long: `Send HTTP requests to a server and report throughput, latencies, errors and the
limit: the server, this load generator, or the network between them.

Without --rate the loop is closed: each connection sends its next request after a
response. With --rate it is open: requests are sent at their intended times,
whether or not responses arrive, and latencies count from those times. Latencies
include timeouts. Redirects are counted, but not followed. Requests go to the
URL's host only, for an hour at most.

With several URLs, or several --start, tare compares servers: in turns (lockstep
rounds), next to a control (the first one again) and a null server, which
responds at once and does nothing. The results have intervals, as those of tare
run.

A URL grpc://host:port/package.Service/Method, or grpcs:// for TLS, calls a gRPC
method. --proto gives the message types; without it tare asks the server (server
reflection).

--start starts your server from a command line in which $PORT is a free port, and
later stops it with all its child processes. No shell is used. For a container:
--start 'docker run --rm -p 127.0.0.1:$PORT:80 nginx'. With --go the command is
go run: tare builds its program once with each of several Go releases, and
compares the binaries.

Exit codes: 0 measured, whatever the figures; 1 nothing could be measured; 2 bad
input; 130 interrupted, after printing what was measured.`,
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
