// Package routes implements tare routes, which measures HTTP routers on the routes of the user's API.
package routes

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/routestudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/internal/format"
)

type options struct {
	run           session.Options
	only          []string // globs of routers; nil means all
	list          bool     // print the routes, measure nothing
	wholeSegments bool     // omit routes such as /files/{name}.json, whose parameter is a part of a segment

	releases session.ReleaseFlag // Go releases to compare; not set if routers are compared
}

// Command returns tare routes.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "routes FILE",
		Short: "Compare routers on your own routes",
		Long: `Compare routers on your own routes: the time to find a route, by kind of route,
its share of a complete request, and what each router does with requests that
match no route.

A FILE is an OpenAPI document (Swagger 2.0, OpenAPI 3, YAML or JSON), or a list
with a method and a path on each line, such as GET /users/{id}; :id is a
parameter as well. - is stdin. Of a document tare reads only paths, methods and
the paths of servers. It omits, with their lines, routes that cannot be measured:
/files/{name}{ext}, HEAD and OPTIONS, a route that is there twice, a catch-all
next to a route that it would match. With /files/{name}.json only the routers
that support it are measured, the others are void. --list prints the routes that
would be measured; a study of yours can use such a list as its file:.

tare checks the answers of every router on all routes. It disqualifies a router
that reads a parameter wrongly, or answers a request that matches no route. A
router that rejects the table is void, with its reason. net/http is the baseline,
or chi if net/http rejects the table.

The report goes to stdout. It begins and ends with a recommendation and its
disadvantages. The result is kept like those of tare run, as a study named
routes.

With --go tare builds net/http, and the routers of --only, with several Go
releases, and compares each with itself: the time of a lookup, and the answers to
the requests on which routers differ. go1.26,go1.27 are the newest releases of
both; a missing one is downloaded. The study is named routes-go.

With --on each machine receives the file, builds the routers and measures them;
verdicts combine the machines.

Exit codes: 0 measured, whatever the verdict; 1 the measurement failed; 2 bad input or
a budget below the minimum; 130 interrupted. With --exit-code also 5 void.`,
		Example: `  tare routes openapi.yaml
  tare routes openapi.yaml --only 'gin*,chi' --budget 3m
  tare routes api.json --list > routes.txt
  go run ./cmd/server --print-routes | tare routes - -o result.json
  tare routes openapi.yaml --go go1.26,go1.27 --only chi
  tare routes openapi.yaml --only 'gin*,chi' --rounds 18 --on local,ssh:a`,
		Args: cmdenv.Needs(1, "one file of routes", "name an OpenAPI document or a list of routes, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return runRoutes(cmd, env, o, args[0])
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	selection := cmdenv.NewFlags("What is measured")
	selection.Set.StringSliceVar(&o.only, "only", nil, "only the baseline and routers that match `glob`; repeatable, or several with commas")
	selection.Set.StringArrayVar(&o.run.Only.Contenders, "contender", nil, "the same, one `glob` each")
	selection.Set.StringArrayVar(&o.run.Only.Workloads, "workload", nil, "only workloads that match `glob`; repeatable")
	o.releases.Add(selection.Set, "compare several Go `releases`, e.g. go1.26,go1.27: the baseline, and the routers of --only")
	selection.Set.BoolVar(&o.list, "list", false, "print the routes as a list and measure nothing")
	selection.Set.BoolVar(&o.wholeSegments, "whole-segments", false, "leave out routes such as /files/{name}.json, so that every router can be measured")
	selection.Set.StringVar(&o.run.Catalog, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	o.run.AddFlags(cmd, selection, session.Offer{Machines: true, Counts: true})
}

func (o *options) check(cmd *cobra.Command) error {
	o.run.Only.Contenders = append(o.run.Only.Contenders, o.only...)
	err := o.run.Check(cmd)
	o.run.FitInto(routestudy.Quick, routestudy.Full)
	if err != nil {
		return err
	}
	return o.releases.Check(o.run.On)
}

func runRoutes(cmd *cobra.Command, env cmdenv.Env, o options, arg string) error {
	doc, err := readRoutes(env, arg)
	if err != nil {
		return err
	}
	if o.wholeSegments && !doc.LeaveParts() {
		return cmdenv.Usage("--whole-segments leaves out all routes of "+arg, "measure them without it")
	}
	for _, line := range doc.Remarks() {
		fmt.Fprintln(env.Err, "tare: "+format.Line(line, 0))
	}
	if o.list {
		return o.listRoutes(env, doc)
	}
	if o.run.DryRun {
		return planRoutes(env, o, doc)
	}
	if len(o.run.On.On) > 0 {
		return routesOn(cmd, env, o, arg)
	}
	return measureRoutes(cmd.Context(), env, o, doc)
}

type routeList struct {
	Baseline string          `json:"baseline"` // the router that others are compared with
	Routes   []fixture.Route `json:"routes"`
	Notes    []string        `json:"notes"` // the lines on stderr
}

func (o options) listRoutes(env cmdenv.Env, doc *routestudy.Document) error {
	if o.run.Format.Name == "json" {
		return cmdenv.PrintJSON(env.Out, routeList{doc.Baseline(), doc.Table.Routes, cmdenv.LegibleLines(doc.Remarks())})
	}
	_, err := io.WriteString(env.Out, doc.Table.List())
	return err
}

func readRoutes(env cmdenv.Env, arg string) (*routestudy.Document, error) {
	name, src, err := env.ReadInput(arg, routestudy.MostBytes, "the routes", "name an OpenAPI document or a list of routes, or - for stdin")
	if err != nil {
		return nil, err
	}
	doc, err := routestudy.Read(name, src)
	if err != nil {
		return nil, cmdenv.UsageOf(err, "")
	}
	return doc, nil
}
