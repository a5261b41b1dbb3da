// Package serve implements tare serve, which runs a service that studies measure as a standalone
// server. An app is the service. A stack is one of the programs that serve it, e.g. with another HTTP
// framework.
package serve

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarebench/tare/apps"
	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/apps/users"
	usersserving "github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/sink/kinds"
	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/contender/server"
)

type options struct {
	app     string
	stack   string                      // "" means the app's default
	args    []string                    // flags for the program, e.g. -limit=100
	value   func(setting string) string // value of a setting, from its flag or from the environment; "" if not set
	store   string                      // --store of the app users
	faces   bool                        // --face of the app users is set
	spool   string                      // --spool of the app ingest; "" means spoolDir
	catalog string                      // directory of contenders; "" means search for it
	dryRun  bool
	build   bool // only build the stack
	quiet   bool
	asJSON  bool // print the list or the plan of dryRun as JSON
}

// Command returns tare serve.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "serve [APP]",
		Short: "Run a measured service standalone",
		Long: `Build a contender and run it standalone, as the service that the studies measure.

Without an APP, tare lists the services, the stacks of each, and their settings.
Every setting can also be an environment variable, e.g. TARE_MAX_BODY for
--max-body; a flag takes precedence.

--sink URL forwards the events of ingest to another system. They are first
written to a spool on disk and acknowledged, so the other system may be away for
a while; with --sink-wait they are acknowledged when they are forwarded. Sinks
and their options:

` + kinds.All().Help() + `  tee:ONE,OTHER                several sinks, also null and file:PATH

Options follow the URL after a #: http+json://HOST/PATH#batch=1000&gzip=on. Every
sink takes batch (events), bytes, age (how long a batch may wait) and timeout; HTTP
sinks also take gzip=on and token-file=PATH. TARE_SINK_TOKEN is sent as a bearer
token; user and password in the URL are sent as Basic authentication. With several
HTTP sinks, TARE_SINK_TOKEN is refused unless all but one have one of the others.

Ctrl-C and SIGTERM are passed to the service, which completes the requests in
flight, for 5 s at most. A second Ctrl-C ends it at once. If tare itself is
killed, the service ends too.

Exit codes: the service's own, which is 0 after a signal; 1 it cannot be built or
cannot serve; 2 bad input; 130 interrupted before it was built.`,
		Example: `  tare serve
  tare serve ingest --sink file:events.ndjson
  tare serve ingest --fsync --sink http+bulk://127.0.0.1:9200/events
  TARE_TOKEN="$SECRET" tare serve ingest --stack fasthttp --limit 100 --addr :8080
  tare serve ingest --sink file:events.ndjson --fsync --rotate 64MiB --tls-cert cert.pem --tls-key key.pem
  tare serve homelab --stack gin --origins https://home.example --log stdout
  tare serve users --face grpc,gin=127.0.0.1:9000,gateway --store sqlite:users.db
  tare serve homelab --dry-run`,
		Args: cmdenv.AtMost(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return appNames(apps.All()), cobra.ShellCompDirectiveNoFileComp
		},
	}
	common, byApp := o.addFlags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return listServed(env, o.catalog, o.asJSON)
		}
		var err error
		o.app = args[0]
		if o.args, err = programFlags(cmd.Flags(), o.app, common, byApp); err != nil {
			return err
		}
		o.value = func(setting string) string {
			if f := cmd.Flags().Lookup(setting); f.Changed {
				return f.Value.String()
			}
			return os.Getenv(server.Setting{Name: setting}.Env())
		}
		switch o.app {
		case users.Name:
			o.store, o.faces = o.value(usersserving.SetStore), cmd.Flags().Changed(flagFace)
		case ingest.Name:
			o.spool = o.value(flagSpool)
		}
		return runServe(cmd.Context(), env, o)
	}
	cmd.SetFlagErrorFunc(serveFlagError)
	cmdenv.CompleteFlag(cmd, "stack", completeStacks(env, &o))
	cmdenv.CompleteFlag(cmd, ingestserving.SetSink, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return kinds.All().Prefixes(), cobra.ShellCompDirectiveNoSpace
	})
	return cmd
}

// addFlags declares the flags of tare serve, which set o. It returns the flags that it passes to
// programs: those of all programs, and by app those of its settings.
func (o *options) addFlags(cmd *cobra.Command) (common cmdenv.Flags, byApp map[string]cmdenv.Flags) {
	command := cmdenv.NewFlags("What is served")
	command.Set.StringVar(&o.stack, "stack", "", "`name` of a contender that serves the app; tare serve lists them")
	command.Set.StringVar(&o.catalog, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	command.Set.BoolVar(&o.dryRun, "dry-run", false, "only print what would be built and run")
	command.Set.BoolVar(&o.build, "build-only", false, "only build it, so that it starts at once later")
	command.Set.BoolVarP(&o.quiet, "quiet", "q", false, "do not say what is being built")
	command.Set.BoolVar(&o.asJSON, "json", false, "print the list, or what --dry-run prints, as JSON")

	common = cmdenv.NewFlags("Of every service")
	common.Set.String("addr", "", "`host:port` to listen at; port 0: any (TARE_ADDR; default: 127.0.0.1:8080)")
	common.Set.String("max-conns", "", "`connections` at most; one too many takes the place of an idle one ("+server.EnvMaxConns+"; default: 4096)")
	common.Set.String("hosts", "", "`names` that requests to a loopback address may be for, separated by commas, besides localhost, loopback addresses and the name in --addr ("+server.EnvHosts+")")
	common.Set.String("log", "", "access `log`: none, stdout, discard or file:PATH (TARE_LOG; default: none)")
	common.Set.String(flagTLSCert, "", "`file` of a certificate in PEM, to encrypt connections with; read again at SIGHUP (TARE_TLS_CERT)")
	common.Set.String("tls-key", "", "`file` of its key in PEM (TARE_TLS_KEY)")

	groups := []cmdenv.Flags{command, common}
	byApp = map[string]cmdenv.Flags{}
	for _, a := range apps.All() {
		g := cmdenv.NewFlags("Of " + a.Name)
		for _, setting := range a.Settings() {
			help, _ := splitHelp(setting)
			help += " (" + setting.Env()
			if setting.Default != "" {
				help += "; default: " + setting.Default
			}
			help += ")"
			if setting.Switch() {
				g.Set.Var(new(switchValue), setting.Name, help)
				g.Set.Lookup(setting.Name).NoOptDefVal = "true"
				continue
			}
			g.Set.String(setting.Name, "", help)
		}
		if a.Name == ingest.Name {
			g.Set.Lookup(ingestserving.SetSink).Usage += "; or the URL of a sink that events are forwarded to, see above"
			g.Set.String(flagSpool, "", "`directory` in which events wait until they are sent on ("+envSpool+"; default: "+spoolDir+")")
		}
		if a.Name == users.Name {
			g.Set.String(flagFace, "", "`faces` (protocols and stacks) to serve, separated by commas: NAME=HOST:PORT, or NAME for the next port from that of --addr ("+server.EnvFace+"; default: all there are)")
		}
		byApp[a.Name] = g
		groups = append(groups, g)
	}
	cmdenv.AddFlags(cmd, groups...)
	return common, byApp
}

const (
	flagTLSCert = "tls-cert"
	flagFace    = "face" // selects the transports of a stack that has several
)

// switchValue is the value of a flag that may have a value, such as --fsync=off, or none.
type switchValue string

func (v *switchValue) Set(text string) error { *v = switchValue(text); return nil }
func (v *switchValue) String() string        { return string(*v) }
func (*switchValue) Type() string            { return "bool" }

// splitHelp returns the help of a setting with its placeholder, a word in back quotes. It extends
// the quotes to the complete word: file:`PATH` becomes `file:PATH`. value is that word, or "".
func splitHelp(setting server.Setting) (help, value string) {
	before, rest, isQuoted := strings.Cut(setting.Help, "`")
	placeholder, after, isClosed := strings.Cut(rest, "`")
	if !isQuoted || !isClosed {
		return setting.Help, ""
	}
	start := strings.LastIndexByte(before, ' ') + 1
	value = before[start:] + placeholder
	return before[:start] + "`" + value + "`" + after, value
}

// programFlags returns the flags that the user set, as arguments of the program. It rejects flags
// that only other apps have. set has all flags with their values.
func programFlags(set *pflag.FlagSet, app string, common cmdenv.Flags, byApp map[string]cmdenv.Flags) (args []string, err error) {
	appFlags := byApp[app]
	addArg := func(f *pflag.Flag) {
		if set.Changed(f.Name) {
			args = append(args, "-"+f.Name+"="+set.Lookup(f.Name).Value.String())
		}
	}
	common.Set.VisitAll(addArg)
	for name, g := range byApp {
		if name == app {
			continue
		}
		g.Set.VisitAll(func(f *pflag.Flag) {
			isOfApp := appFlags.Set != nil && appFlags.Set.Lookup(f.Name) != nil
			if f.Changed && !isOfApp && err == nil {
				err = cmdenv.Usage(fmt.Sprintf("--%s is of %s, and this is to serve %s", f.Name, name, app), "tare serve lists the settings of each", "tare serve")
			}
		})
	}
	if appFlags.Set != nil {
		appFlags.Set.VisitAll(addArg)
	}
	return args, err
}

// serveFlagError turns a parse error of the flags into a usage error. It suggests flags for an
// unknown one.
func serveFlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return cmdenv.UsageOf(err, cmd.CommandPath()+" --help lists the flags")
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	if word := unknown.GetSpecifiedShortnames(); word != "" { // one dash
		name, _, _ := strings.Cut(word, "=")
		if slices.Contains(known, "--"+name) {
			return cmdenv.Usage(fmt.Sprintf("-%s is no flag", name), "with two dashes it is: --"+name)
		}
		return cmdenv.Unknown("flag", "-"+name, known, cmd.CommandPath()+" --help lists the flags")
	}
	flag := "--" + unknown.GetSpecifiedName()
	hint := cmd.CommandPath() + " --help lists the flags"
	if close := suggest.Names(flag, known); len(close) > 0 {
		hint = suggest.Hint(flag, close)
	}
	return cmdenv.Usage("unknown flag "+flag, hint)
}
