package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history/index"
	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/golden"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/labtest"
)

// The scripts call the command line as processes of their own. `tare` is the
// real lab with scripted contenders on a scripted clock; `tare-real` is tare.
func TestMain(m *testing.M) {
	if trial.GuardianMain() {
		return
	}
	cli.NullMain()
	testscript.Main(m, map[string]func(){
		"tare":      func() { os.Exit(main(stage().env())) },
		"tare-real": func() { os.Exit(main(cmdenv.Env{})) },
		"hold":      hold,
		"serve":     serve,
		"await":     func() { await(func() bool { _, err := os.Stat(os.Args[1]); return err == nil }) },
	})
}

// ownLock begins the names of the machine locks of these tests: they wait for no tare
// of somebody else.
var ownLock = fmt.Sprintf("test-%d-", os.Getpid())

func main(env cmdenv.Env) int {
	env.In, env.Out, env.Err, env.Args, env.Getenv = os.Stdin, os.Stdout, os.Stderr, os.Args[1:], os.Getenv
	var printed bytes.Buffer
	if cmdenv.WantsJSON(env.Args) {
		env.Out = io.MultiWriter(os.Stdout, &printed)
	}
	env = cli.PrepareOutput(env)
	path, err := cli.Execute(context.Background(), env)
	recordError(path, err)
	code := cli.Report(env, path, err)
	recordDocuments(path, env.Args, printed.Bytes())
	return code
}

// fewCollections is for processes that end soon: else they spend a quarter of their
// time on collecting garbage.
const fewCollections = "GOGC=400"

func TestScripts(t *testing.T) {
	dir := t.TempDir()
	recorded, documents := filepath.Join(dir, "errors"), filepath.Join(dir, "documents")
	t.Cleanup(func() { checkErrors(t, recorded); checkDocuments(t, documents) }) // the scripts are parallel subtests
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       golden.Updating(), // what they compare with
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("TARE_CACHE", filepath.Join(e.WorkDir, "cache"))
			if script := filepath.Base(e.WorkDir); script != "script-clean" && script != "script-doctor" { // these look at the cache
				if err := seedSQLite(filepath.Join(e.WorkDir, "cache"), testtare.Cache(t)); err != nil {
					return err
				}
			}
			e.Setenv("TARE_DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("TARE_LOCK", ownLock+filepath.Base(e.WorkDir))
			repository, err := filepath.Abs("../../../..")
			if err != nil {
				return err
			}
			e.Setenv("REPOSITORY", repository)
			e.Setenv("TARE_CATALOG", os.Getenv("TARE_CATALOG"))                                      // it may name the clone, which another user made
			for name, command := range map[string]string{"TARE": "tare", "TARE_REAL": "tare-real"} { // for scripts that change PATH
				path, err := exec.LookPath(command)
				if err != nil {
					return err
				}
				e.Setenv(name, path)
			}
			if cache, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil { // for scripts that build
				e.Setenv("GOCACHE_OF_TESTS", strings.TrimSpace(string(cache)))
			}
			e.Vars = append(e.Vars, fewCollections)
			e.Setenv("GORACE", "atexit_sleep_ms=0") // under -race every command would end with a second of sleep
			e.Setenv(errorsFile, recorded)
			e.Setenv(documentsFile, documents)
			e.Setenv("SCRIPT", filepath.Join(e.WorkDir, "script.json"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"clean": clean,

			"validates": validates,
			"bench":     bench,

			"change":  change,
			"keymode": keymode,
		},
	})
}

// seedSQLite links the machine code of SQLite in shared, the cache of all tests, into
// cache: to translate it takes a process more than a second.
func seedSQLite(cache, shared string) error {
	code := filepath.Join(shared, index.CodeDir)
	if err := os.MkdirAll(code, 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	return os.Symlink(code, filepath.Join(cache, index.CodeDir))
}

// exits CODE COMMAND… runs a command that must end with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// clean FILE OUT copies FILE, which may be stdout or stderr, to OUT with the
// script's own directory as $WORK.
func clean(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// validates SCHEMA FILE checks FILE, which may be stdout or stderr, against a published schema: a document, or
// one on each line.
func validates(ts *testscript.TestScript, _ bool, args []string) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(ts.Getenv("REPOSITORY"), "docs", "schema", args[0]+".schema.json"))
	ts.Check(err)
	text := ts.ReadFile(args[1])
	documents := []string{text}
	if _, err := jsonschema.UnmarshalJSON(strings.NewReader(text)); err != nil {
		documents = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	for _, text := range documents {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err == nil {
			err = schema.Validate(document)
		}
		if err != nil {
			ts.Fatalf("%s: %v", text, err)
		}
	}
}

// change FILE OLD NEW writes changed.json, which is FILE with NEW, in which $WORK is
// the script's own directory, in the first place of OLD.
func change(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s holds no %s", args[0], args[1])
	}
	text = strings.Replace(text, args[1], args[2], 1)
	ts.Check(os.WriteFile(ts.MkAbs("changed.json"), []byte(text), 0o644))
}

// keymode FILE wants a file that nobody but its owner can read.
func keymode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		ts.Fatalf("%s has mode %v", args[0], info.Mode())
	}
}

// hold LOCK HELD ERR takes the lock of a cache or, with a name that is no path, of the
// machine, or locks a directory. It makes the file HELD to say so, and lets go when
// the file ERR says that somebody waits or gave up.
func hold() {
	lock := machine.Lock
	if !filepath.IsAbs(os.Args[1]) {
		lock = machine.LockHost
	} else if info, err := os.Stat(os.Args[1]); err == nil && info.IsDir() {
		lock = func(_ context.Context, dir string, _ func(string)) (func(), error) {
			unlock, _ := machine.LockDir(dir)
			return unlock, nil
		}
	}
	unlock, err := lock(context.Background(), os.Args[1], nil)
	if err == nil {
		err = os.WriteFile(os.Args[2], nil, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	await(func() bool {
		text, err := os.ReadFile(os.Args[3])
		return err == nil && (strings.Contains(string(text), "waiting for another tare") || strings.Contains(string(text), "another tare is writing"))
	})
	unlock()
}

// await waits until done, but not for ever.
func await(done func() bool) {
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, "waited 30 s in vain")
	os.Exit(1)
}

// staged is the lab on a stage: contenders play the script in $SCRIPT.
type staged struct {
	labtest.Script
	// Interrupt is when the user presses Ctrl-C: "pilot", or the number of a
	// round; "!" behind it presses twice.
	Interrupt string `json:"interrupt"`

	clock   *labtest.Clock
	signals chan os.Signal
	stop    <-chan struct{}
	ctx     context.Context
	pressed bool
}

func stage() *staged {
	s := &staged{
		clock:   labtest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		signals: make(chan os.Signal),
	}
	src, err := os.ReadFile(os.Getenv("SCRIPT"))
	if err == nil {
		err = json.Unmarshal(src, s)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(os.Stderr, "the script cannot be read:", err)
		os.Exit(99)
	}
	return s
}

func (s *staged) env() cmdenv.Env {
	return cmdenv.Env{Now: s.clock.Now, Lab: cmdenv.Lab{
		Kinds:     map[string]lab.Kind{"codec": kind{codec.New(), s}},
		Sources:   func(cmdenv.Workshop) (lab.Sources, error) { return sources{s}, nil },
		Studies:   os.DirFS("studies"),
		Facts:     func(context.Context) tare.Machine { return aMachine() },
		Interrupt: func() (<-chan os.Signal, func()) { return s.signals, func() {} },
		Guard:     func(string) (*trial.Guardian, error) { return nil, nil },
		Run: func(ctx context.Context, study tare.Study, o lab.Options) (*tare.Result, error) {
			s.stop, s.ctx = o.Stop, ctx
			m := aMachine()
			m.Unlocked = o.Unlocked
			o.Machine = &m
			return lab.Run(ctx, study, o)
		},
	}}
}

func aMachine() tare.Machine {
	return tare.Machine{
		OS: "plan9", Arch: "amd64", Kernel: "4th edition", CPU: "Scripted 3000", Cores: 2, Memory: 8 << 30, Go: "go1.26.0",
		Facilities: []tare.Facility{{Name: "cpu pressure", Found: true, Note: "share of time"}, {Name: "cpu governor"}},
	}
}

// press presses Ctrl-C and waits until it has been noticed.
func (s *staged) press() {
	twice := strings.HasSuffix(s.Interrupt, "!")
	s.pressed = true
	s.signals <- os.Interrupt
	if twice {
		s.signals <- os.Interrupt
		<-s.ctx.Done()
		return
	}
	select {
	case <-s.stop:
	case <-s.ctx.Done():
	}
}

// sources finds every contender that is in the script.
type sources struct{ *staged }

func (s sources) Vet(_ string, e tare.Entry) error {
	if _, ok := s.Contenders[e.Leaf()]; ok {
		return nil
	}
	known := slices.Sorted(maps.Keys(s.Contenders))
	return &lab.UnknownError{What: "contender " + strconv.Quote(e.Leaf()), Near: suggest.Names(e.Leaf(), known)}
}

func (s sources) Describe(_, _ string, e tare.Entry) (catalog.Description, error) {
	return catalog.Description{Name: e.Leaf(), Dir: "sources of " + e.Leaf(), Modules: []string{"example.com/" + e.Leaf() + "@" + s.Contenders[e.Leaf()].Version}}, nil
}

// Nothing is built, so that any release is here and no module decides.
func (s sources) Unused(string, []tare.Entry, string) []string         { return nil }
func (s sources) Here(context.Context, string) bool                    { return true }
func (s sources) Toolchain(context.Context, string) error              { return nil }
func (s sources) Versions(kind string, e tare.Entry) map[string]string { return nil }

func (s sources) Program(_ context.Context, kind, _ string, e tare.Entry) (build.Program, error) {
	act := s.Contenders[e.Leaf()]
	c := tare.Contender{ID: e.ID, Kind: kind, Name: "example.com/" + e.Leaf(), Version: act.Version, Build: tare.Build{Go: "go1.26.0", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(e.Leaf())))}}
	if act.Trap {
		c.Role = tare.RoleTrap
	}
	if act.Missing != "" {
		c.Identity = tare.Identity{ClaimedSymbols: []string{act.Missing}, MissingSymbols: []string{act.Missing}}
	}
	if act.BuildError != "" {
		return build.Program{Contender: c}, errors.New(act.BuildError)
	}
	return build.Program{Contender: c}, nil
}

// kind asks like a codec, of scripted contenders. It sets no exams: what they
// would make of odd cases is in no script.
type kind struct {
	described
	*staged
}

type described interface {
	lab.Kind
	lab.Describer
}

func (k kind) Open(_ context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	_, name, _ := strings.Cut(spec.Name, "/")
	if at := strings.TrimSuffix(k.Interrupt, "!"); !k.pressed && at != "" && (name == at || name == "round "+at) {
		k.press()
	}
	return labtest.Open(k.Script, p.Contender.ID, spec.Name, k.clock, reference)
}

// reference is case i of the input a workload was given.
func reference(w wire.Workload, i int) ([]byte, error) {
	src, err := os.ReadFile(w.Input)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Split(string(src), "\n")[i]), nil
}
