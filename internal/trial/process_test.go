//go:build unix

package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// opened starts a contender that plays part.
func opened(t testing.TB, part string, change func(*Spec)) *Session {
	t.Helper()
	spec := Spec{Path: os.Args[0], Name: part, Run: "test-" + t.Name(), Env: []string{quick, envPart + "=" + part}}
	if change != nil {
		change(&spec)
	}
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	return &Session{Conn: p, Trial: p.ID()}
}

// greeted has said hello too.
func greeted(t testing.TB, part string, change func(*Spec)) *Session {
	t.Helper()
	s := opened(t, part, change)
	if _, err := s.Hello(t.Context(), "", "1"); err != nil {
		t.Fatal(err)
	}
	return s
}

// asClass checks that err is one line of the class that holds words.
func asClass(t *testing.T, err error, class, words string) {
	t.Helper()
	var te *tare.TrialError
	if !errors.As(err, &te) {
		t.Fatalf("got %v, want a trial error of class %s", err, class)
	}
	if te.Class != class || !strings.Contains(te.Message, words) || strings.ContainsAny(te.Message, "\n\x00") {
		t.Errorf("got %q: %q, want class %q with %q, in one line", te.Class, te.Message, class, words)
	}
}

// within fails the test if what follows takes longer than limit.
func within(t *testing.T, limit time.Duration, what string) func() {
	t.Helper()
	began := time.Now()
	return func() {
		t.Helper()
		if d := time.Since(began); d > limit {
			t.Errorf("%s took %v, want at most %v", what, d, limit)
		}
	}
}

func TestSession(t *testing.T) {
	s := greeted(t, "good", func(s *Spec) { s.Env = append(s.Env, "GOMAXPROCS=1") })
	ctx := t.Context()
	if _, err := s.Prepare(ctx, wire.Workload{ID: "w"}); err != nil {
		t.Error(err)
	}
	if a, err := s.Answer(ctx, "w", []int{3, 1}); err != nil || len(a) != 2 || a[0].Case != 3 {
		t.Errorf("answers %v, %v", a, err)
	}
	if a, err := s.Warm(ctx, "w", 3, time.Millisecond, time.Second, 0); err != nil || a.Ops != 1 {
		t.Errorf("warm %+v, %v", a, err)
	}
	if a, err := s.Slice(ctx, wire.Request{On: "w", Ops: 40}, time.Millisecond); err != nil || a.Ops != 40 || a.WallNS != 1000 {
		t.Errorf("slice %+v, %v", a, err)
	}
	if a, err := s.Stats(ctx, "w", 9, time.Millisecond); err != nil || a.Ops != 9 {
		t.Errorf("stats %+v, %v", a, err)
	}
	e := s.Close(ctx)
	if e.PID != s.Conn.(*Process).PID() || e.Go != runtime.Version() || e.GOMAXPROCS != 1 || e.KilledGroup || e.CPUSeconds <= 0 {
		t.Errorf("evidence %+v", e)
	}
	if again := s.Conn.Close(ctx); again != e {
		t.Errorf("closed again: %+v, first %+v", again, e)
	}
	if runtime.GOOS == "linux" && (e.MaxRSSBytes < 1<<20 || e.MaxRSSBytes > 1<<30 || e.Affinity == "" || e.RunQueueNS <= 0) {
		t.Errorf("evidence %+v", e)
	}
	_, err := s.Slice(ctx, wire.Request{On: "w"}, 0)
	asClass(t, err, tare.ErrExit, "closed")
	noneLeft(t, s)
}

// Every way to go wrong has its class and one line, comes back in time, is
// the answer to every later call, and leaves nothing behind.
func TestHostile(t *testing.T) {
	const wait = 400 * time.Millisecond // the deadline, where the part is about missing it
	for _, c := range []struct {
		part, class, words string
		change             func(*Spec)
		linux              bool
	}{
		{part: "hangs", class: tare.ErrDeadline, words: "no answer to slice within 0.4 s"},
		{part: "late", class: tare.ErrDeadline, words: "no answer to slice within 0.4 s"},
		{part: "exits", class: tare.ErrExit, words: "exit status 3: out of luck"},
		{part: "panics", class: tare.ErrExit, words: "exit status 2: panic: lost my head"},
		{part: "kills itself", class: tare.ErrExit, words: "signal: killed"},
		{part: "floods stdout", class: tare.ErrOutput, words: "more than 1 MiB", change: func(s *Spec) { s.OutputLimit = 1 << 20 }},
		{part: "garbage", class: tare.ErrProtocol, words: `"hello\x00 world, this is no JSON"`},
		{part: "endless line", class: tare.ErrProtocol, words: "line longer than"},
		{part: "half a line", class: tare.ErrProtocol, words: "in the middle of its answer to slice"},
		{part: "closes the wire", class: tare.ErrProtocol, words: "closed the wire instead of answering slice"},
		{part: "wrong id", class: tare.ErrProtocol, words: "with the id"},
		{part: "allocates", class: tare.ErrMemory, words: "limit is 200 MiB", change: func(s *Spec) { s.MemoryLimit = 200 << 20 }, linux: true},
		{part: "child allocates", class: tare.ErrMemory, words: "limit is 200 MiB", change: func(s *Spec) { s.MemoryLimit = 200 << 20 }, linux: true},
		{part: "leaves a child and exits", class: tare.ErrExit, words: "exit status 0", linux: true},
		{part: "leaves a child on the wire", class: tare.ErrExit, words: "exit status 5", linux: true},
	} {
		t.Run(strings.ReplaceAll(c.part, " ", "-"), func(t *testing.T) {
			t.Parallel()
			if c.linux && runtime.GOOS != "linux" {
				t.Skip("needs /proc")
			}
			s := greeted(t, c.part, func(s *Spec) {
				s.Env = append(s.Env, envPIDs+"="+filepath.Join(t.TempDir(), "pids"))
				if c.change != nil {
					c.change(s)
				}
			})
			limit := 20 * time.Second
			if c.class == tare.ErrDeadline {
				limit = wait
			}
			s.Limit = func(string, time.Duration) time.Duration { return limit }
			inTime := within(t, 15*time.Second, "failing")
			_, err := s.Slice(t.Context(), wire.Request{On: "w", Ops: 1, CapNS: (wait + 30*time.Millisecond).Nanoseconds()}, 0)
			asClass(t, err, c.class, c.words)
			if _, again := s.Stats(t.Context(), "w", 1, 0); again != err {
				t.Errorf("later calls return %v, not %v", again, err)
			}
			s.Close(t.Context())
			inTime()
			noneLeft(t, s)
		})
	}
}

func TestHostileStart(t *testing.T) {
	t.Parallel()
	s := opened(t, "mute", nil)
	s.Limit = func(string, time.Duration) time.Duration { return 300 * time.Millisecond }
	_, err := s.Hello(t.Context(), "", "1")
	asClass(t, err, tare.ErrDeadline, "no answer to hello within 0.3 s")
	if e := s.Close(t.Context()); !e.KilledGroup {
		t.Error("it had to be killed, and the evidence does not say so")
	}
	noneLeft(t, s)

	s = opened(t, "crash at once", nil)
	_, err = s.Hello(t.Context(), "", "1")
	asClass(t, err, tare.ErrExit, "ended during hello with exit status 3: no licence found")
	s.Close(t.Context())
	noneLeft(t, s)

	_, err = Start(t.Context(), Spec{Path: filepath.Join(t.TempDir(), "absent")})
	asClass(t, err, tare.ErrStart, "no such file")
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Start(t.Context(), Spec{Path: plain})
	asClass(t, err, tare.ErrStart, "permission denied")
}

// An error that the contender itself reports leaves the wire in order.
func TestContenderError(t *testing.T) {
	t.Parallel()
	s := greeted(t, "error", nil)
	_, err := s.Slice(t.Context(), wire.Request{On: "w"}, 0)
	asClass(t, err, tare.ErrContender, "slice: internal: two lines")
	if _, err := s.Stats(t.Context(), "w", 3, 0); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestImplausibleReply(t *testing.T) {
	t.Parallel()
	s := greeted(t, "no ops", nil)
	_, err := s.Slice(t.Context(), wire.Request{On: "w"}, 0)
	asClass(t, err, tare.ErrProtocol, "without operations")
}

func TestOutputIsCountedAndKept(t *testing.T) {
	t.Parallel()
	s := greeted(t, "prints", nil)
	if _, err := s.Slice(t.Context(), wire.Request{On: "w"}, 0); err != nil {
		t.Fatal(err)
	}
	e := s.Close(t.Context())
	if e.StdoutBytes != 10_000 || e.StderrBytes != 20_003 || len(e.StderrTail) != tailBytes || !strings.HasSuffix(e.StderrTail, "eeend") {
		t.Errorf("%d B on stdout, %d B on stderr, a tail of %d ending %q", e.StdoutBytes, e.StderrBytes, len(e.StderrTail), e.StderrTail[max(0, len(e.StderrTail)-5):])
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := greeted(t, "hangs", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("second Ctrl-C")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	inTime := within(t, 4*time.Second, "cancelling")
	if _, err := s.Slice(ctx, wire.Request{On: "w"}, time.Minute); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	s.Close(ctx)
	inTime()
	noneLeft(t, s)
	if _, err := Start(ctx, Spec{Path: os.Args[0]}); !errors.Is(err, why) {
		t.Errorf("started all the same: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("GOGC", "37")
	t.Setenv("GODEBUG", "madvdontneed=1")
	t.Setenv("SECRET", "x")
	t.Setenv(EnvRun, "another")
	s := greeted(t, "good", func(s *Spec) {
		s.Run = "r1"
		s.Env = append(s.Env, "GOGC=75", EnvTrial+"=forged")
	})
	answers, err := s.Answer(t.Context(), "w", []int{0})
	if err != nil {
		t.Fatal(err)
	}
	env := "\n" + string(answers[0].Output) + "\n"
	for _, want := range []string{"\nPATH=", "\nGOGC=75\n", "\nTARE_RUN=r1\n", "\nTARE_TRIAL=" + s.Trial + "\n", "\nTARE_WIRE=3,4\n"} {
		if strings.Count(env, want) != 1 {
			t.Errorf("%q is not there once in %s", want, env)
		}
	}
	for _, name := range []string{"GODEBUG", "SECRET", "forged", "another"} {
		if strings.Contains(env, name) {
			t.Errorf("%s is in %s", name, env)
		}
	}
}

func TestAffinity(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on linux")
	}
	t.Parallel()
	free := greeted(t, "good", nil)
	all := free.Close(t.Context()).Affinity
	one := len(all) == 1
	cpu, err := strconv.Atoi(all[strings.LastIndexAny(all, ",-")+1:])
	if err != nil {
		t.Fatalf("affinity %q", all)
	}
	s := greeted(t, "good", func(s *Spec) { s.CPUs = []int{cpu} })
	if e := s.Close(t.Context()); e.Affinity != strconv.Itoa(cpu) {
		t.Errorf("affinity %q, want %d", e.Affinity, cpu)
	}
	if after := greeted(t, "good", nil).Close(t.Context()).Affinity; after != all && !one {
		t.Errorf("later trials have %q, not %q", after, all)
	}
	_, err = Start(t.Context(), Spec{Path: os.Args[0], CPUs: []int{4095}})
	asClass(t, err, tare.ErrStart, "processors 4095")
}

// A loopback socket does what the pipes do.
func TestSocket(t *testing.T) {
	t.Parallel()
	open := func(part string) *Session {
		l, err := newSocket()
		if err != nil {
			t.Fatal(err)
		}
		p, err := startProcess(t.Context(), Spec{Path: os.Args[0], Env: []string{quick, envPart + "=" + part}}, l)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close(context.Background()) })
		return &Session{Conn: p}
	}
	s := open("good")
	if _, err := s.Hello(t.Context(), "", "1"); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Slice(t.Context(), wire.Request{On: "w", Ops: 5}, 0); err != nil || a.Ops != 5 {
		t.Errorf("slice %+v, %v", a, err)
	}
	if e := s.Close(t.Context()); e.KilledGroup {
		t.Errorf("evidence %+v", e)
	}
	noneLeft(t, s)

	inTime := within(t, 4*time.Second, "failing")
	s = open("crash at once") // before it connects
	_, err := s.Hello(t.Context(), "", "1")
	asClass(t, err, tare.ErrExit, "exit status 3")
	s = open("mute")
	s.Limit = func(string, time.Duration) time.Duration { return 300 * time.Millisecond }
	_, err = s.Hello(t.Context(), "", "1")
	asClass(t, err, tare.ErrDeadline, "within 0.3 s")
	inTime()
}

func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		op       string
		expected time.Duration
		want     time.Duration
	}{
		{wire.OpHello, time.Hour, 5 * time.Second},
		{wire.OpPrepare, 0, 60 * time.Second},
		{wire.OpAnswer, 0, 30 * time.Second},
		{wire.OpSlice, 10 * time.Millisecond, 5 * time.Second},
		{wire.OpSlice, time.Second, 20 * time.Second},
		{wire.OpWarm, time.Second, 20 * time.Second},
		{wire.OpBye, 0, 5 * time.Second},
	} {
		if got := Deadline(c.op, c.expected); got != c.want {
			t.Errorf("%s expected in %v: %v, want %v", c.op, c.expected, got, c.want)
		}
	}
}
