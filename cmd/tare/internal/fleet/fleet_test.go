package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/tarebench/tare"
)

const study = `{study: s, question: "q?", kinds: [codec], baseline: encoding-json, contenders: [encoding-json], metrics: [time],
  workloads: [{id: w, fixture: devices, n: 50, op: marshal}]}`

// shortTimes let a test see silence soon.
func shortTimes() protocolTimes {
	return protocolTimes{helloInterval: 50 * time.Millisecond, lostAfter: 3 * time.Second, abandonAfter: 30 * time.Second, replyTimeout: 500 * time.Millisecond, retryDelay: 5 * time.Millisecond, rejoinDelay: 50 * time.Millisecond, stopTimeout: 4 * time.Second}
}

// result is what an agent sends back of so many rounds.
func result(o StudyOrder, rounds int) *tare.Result {
	r := &tare.Result{
		Schema: tare.ResultSchema, Study: cmp.Or(o.ID, "bench m"), Question: "q?", Run: tare.Run{Seed: strconv.FormatUint(o.Seed, 10), Machine: tare.Machine{OS: "linux", Arch: "amd64"}},
		Measured: tare.Measured{
			RoundsDone:  rounds,
			Comparisons: []tare.Comparison{{Workload: "w", Metric: "time", Contender: "a", Against: "b", Ratio: 1.1, Low: 1, High: 1.2}},
		},
		Design: tare.Design{Metrics: []string{"time"}},
	}
	if o.Command == "bench" {
		r.Question = o.Flags[0]
	}
	r.Rounds = []tare.Effects{{Workload: "w", Metric: "time", A: "a", B: "b", Effects: make([]float64, rounds)}}
	return r
}

// cluster is a server of NATS that can be restarted where it was.
type cluster struct {
	t *testing.T
	o server.Options
	s *server.Server
}

func newCluster(t *testing.T) *cluster {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	c := &cluster{t: t, o: server.Options{Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true}}
	c.start()
	t.Cleanup(func() { c.s.Shutdown(); c.s.WaitForShutdown() })
	return c
}

func (c *cluster) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", c.o.Port) }

func (c *cluster) start() {
	for range 200 {
		o := c.o
		s, err := server.NewServer(&o)
		if err != nil {
			c.t.Fatal(err)
		}
		go s.Start()
		if s.ReadyForConnections(2 * time.Second) {
			c.s = s
			return
		}
		s.Shutdown()
	}
	c.t.Error("no server of NATS")
}

func (c *cluster) restart() {
	c.s.Shutdown()
	c.s.WaitForShutdown()
	c.start()
}

// member is an agent of a test.
type member struct {
	name   string
	pauses chan time.Duration // before a round
	kill   context.CancelFunc
	done   chan struct{}
}

// join starts an agent whose rounds take a moment each.
func join(t *testing.T, url, prefix, name string) *member {
	ctx, kill := context.WithCancel(t.Context())
	m := &member{name: name, pauses: make(chan time.Duration, 4), kill: kill, done: make(chan struct{})}
	a := &Agent{Prefix: prefix, Limits: Limits{Commands: true}, times: shortTimes(), Hello: Hello{Name: name, Version: "test", OS: "linux", Arch: "amd64", CPUs: 2}}
	a.Study = func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
		for done := 0; ; done++ {
			more := false
			if done < o.Most { // the lab does not ask beyond it
				var err error
				if more, err = task.Permit(ctx, done); err != nil {
					return nil, err
				}
			}
			if !more {
				return json.Marshal(result(o, done))
			}
			pause := time.Duration(done*7%20) * time.Millisecond
			select {
			case pause = <-m.pauses:
			default:
			}
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(pause):
			}
		}
	}
	go func() {
		defer close(m.done)
		_ = a.ServeJoined(ctx, Join{URL: url})
	}()
	t.Cleanup(func() { // the connection, too: else it delivers what nobody waits for
		kill()
		a.mu.Lock()
		if a.nc != nil {
			a.nc.Close()
		}
		a.mu.Unlock()
		<-m.done
	})
	return m
}

// TestEveryRoundOnce has agents killed, paused and cut off, the coordinator killed and gone on
// with, and NATS restarted, at random. Whatever happens, every round ends in exactly one result.
func TestEveryRoundOnce(t *testing.T) {
	t.Parallel()
	studies := 20
	switch {
	case os.Getenv("TARE_SOAK") != "":
		studies = 100
	case testing.Short():
		studies = 5
	}
	var mu sync.Mutex
	counts := map[string]int{}
	count := func(what string, n int) { mu.Lock(); counts[what] += n; mu.Unlock() }
	c := newCluster(t)
	stop := make(chan struct{})
	var restarts sync.WaitGroup
	restarts.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Second):
				c.restart()
				count("restarts of NATS", 1)
			}
		}
	})
	var all sync.WaitGroup
	room := make(chan struct{}, 20) // most of their time they wait for somebody who is gone
	for i := range studies {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			oneFaulty(t, c, fmt.Sprintf("fleet%d", i), rand.New(rand.NewPCG(uint64(i), 23)), count)
		})
	}
	all.Wait()
	close(stop)
	restarts.Wait()
	t.Logf("%d studies: %v", studies, counts)
	if counts["rounds in results"] != studies*12 || counts["rounds twice"] != 0 {
		t.Errorf("%v: %d rounds were to be in results, each once", counts, studies*12)
	}
}

// oneFaulty is a study of three machines with four rounds each, with faults.
func oneFaulty(t *testing.T, c *cluster, prefix string, r *rand.Rand, count func(string, int)) {
	names := []string{"a", "b", "c"}
	var all []*member
	for _, name := range names {
		all = append(all, join(t, c.url(), prefix, name))
	}
	dir := t.TempDir()
	kills := r.IntN(2) // one survives at least, and the coordinator
	coordinatorDies := r.IntN(2) == 0
	wait := func(n int) time.Duration { return time.Duration(r.IntN(n)) * time.Millisecond }
	if r.IntN(2) == 0 {
		all[r.IntN(3)].pauses <- 300 * time.Millisecond
		count("pauses", 1)
	}
	if r.IntN(6) == 0 {
		all[r.IntN(3)].pauses <- 0
	}
	killAt, dieAt := wait(120), wait(120)
	if kills > 0 {
		victim := all[r.IntN(3)]
		go func() { time.Sleep(killAt); victim.kill() }()
		count("agents killed", 1)
	}
	for attempt := 1; ; attempt++ {
		h, err := Open(HubOptions{URL: c.url(), Prefix: prefix, times: shortTimes()})
		if err != nil && attempt < 100 { // NATS is being restarted
			time.Sleep(20 * time.Millisecond)
			continue
		} else if err != nil {
			t.Error(err)
			return
		}
		run := &StudyRun{Hub: h, Dir: dir, Machines: names, Share: 4, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(string, string) {}}
		ctx, cancel := context.WithCancel(t.Context())
		var died atomic.Bool // known before the run can notice
		if coordinatorDies {
			coordinatorDies = false
			time.AfterFunc(dieAt, func() { died.Store(true); h.nc.Close(); cancel() }) // nobody is told
			count("coordinators killed", 1)
		}
		results, err := run.Run(ctx)
		h.Close()
		dead := died.Load()
		cancel()
		if dead && run.pool.countMissing() > 0 {
			continue
		}
		if run.pool.countMissing() > 0 {
			t.Errorf("%d rounds are missing: %v", run.pool.countMissing(), err)
			return
		}
		seen := map[int]int{}
		for _, s := range run.pool.assignments {
			if s.state == delivered {
				for _, round := range s.rounds {
					seen[round]++
				}
			}
			if s.state == lost {
				count("orders lost", 1)
			}
		}
		total := 0
		for _, m := range results {
			total += m.Result.RoundsDone
		}
		for _, n := range seen {
			if n > 1 {
				count("rounds twice", n-1)
			}
		}
		if total != len(seen) || len(seen) != 12 {
			t.Errorf("%d rounds in results, %d by the journal", total, len(seen))
		}
		count("rounds in results", total)
		return
	}
}

// hub is a coordinator with a server of its own.
func hub(t *testing.T, o HubOptions) *Hub {
	t.Helper()
	if o.times == (protocolTimes{}) {
		o.times = shortTimes()
	}
	h, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// piped starts an agent that speaks through pipes, as one over SSH does.
func piped(t *testing.T, h *Hub, a *Agent, name string) {
	t.Helper()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	go func() {
		h.connectPipe(name, stdin, stdout)
		stdout.Close() // as when the process that has the other end is gone
	}()
	a.times = h.options.times
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer out.Close()
		if err := a.ServePipe(t.Context(), in, out); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { stdin.Close(); <-done })
	if err := h.Await(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// An agent gets in with the token and the certificate that it was told, to its own
// subjects, and nobody else does.
func TestJoin(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fleet")
	secrets, err := ReadSecrets(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"good", "liar", "deceived"} {
		if err := secrets.MakeToken(name); err != nil {
			t.Fatal(err)
		}
	}
	again, err := ReadSecrets(dir)
	if err == nil {
		err = again.MakeToken("good")
	}
	if err != nil || again.Token("good") != secrets.Token("good") || again.Fingerprint != secrets.Fingerprint {
		t.Fatalf("the second time they are others: %v", err)
	}
	if info, err := os.Stat(secrets.TokenFile("good")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the token: %v, %v", info.Mode(), err)
	}
	var mu sync.Mutex
	var log []string
	h := hub(t, HubOptions{Listen: "127.0.0.1:0", Cert: secrets.Cert, Token: secrets.Token, Log: func(line string) { mu.Lock(); log = append(log, line); mu.Unlock() }})
	try := func(name string, j Join) (said func() string, stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var lines []string
		a := &Agent{Prefix: DefaultPrefix, times: shortTimes(), Hello: Hello{Name: name}, Log: func(line string) { mu.Lock(); lines = append(lines, line); mu.Unlock() }}
		done := make(chan struct{})
		go func() { defer close(done); _ = a.ServeJoined(ctx, j) }()
		return func() string { mu.Lock(); defer mu.Unlock(); return strings.Join(lines, "\n") }, func() { cancel(); <-done }
	}
	good := Join{Addr: h.Addr(), Fingerprint: secrets.Fingerprint, Token: secrets.Token("good")}
	_, stop := try("good", good)
	if err := h.Await(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	stop()
	wrong := good
	wrong.Token = "no such token at all"
	_, stop = try("liar", wrong)
	until(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(log, func(line string) bool {
			return strings.Contains(line, "refused liar") && strings.Contains(line, "token")
		})
	})
	stop()
	wrong = good
	wrong.Token = secrets.Token("deceived")
	wrong.Fingerprint = strings.Repeat("0", 64)
	said, stop := try("deceived", wrong)
	time.Sleep(300 * time.Millisecond)
	stop()
	if silent, _ := h.silentFor("deceived"); silent < time.Hour {
		t.Errorf("an agent joined a coordinator of another certificate: %s", said())
	}
	if got := h.Agents(); len(got) != 1 || got[0].Name != "good" {
		t.Errorf("%+v", got)
	}
}

// An agent cannot speak for another, nor listen to it.
func TestRights(t *testing.T) {
	t.Parallel()
	secrets, err := ReadSecrets(t.TempDir())
	if err == nil {
		err = secrets.MakeToken("mallory")
	}
	if err != nil {
		t.Fatal(err)
	}
	h := hub(t, HubOptions{Listen: "127.0.0.1:0", Cert: secrets.Cert, Token: secrets.Token})
	ctx, cancel := context.WithCancel(t.Context())
	a := &Agent{Prefix: DefaultPrefix, times: shortTimes(), Hello: Hello{Name: "mallory"}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = a.ServeJoined(ctx, Join{Addr: h.Addr(), Fingerprint: secrets.Fingerprint, Token: secrets.Token("mallory")})
	}()
	defer func() { cancel(); <-done }()
	if err := h.Await(t.Context(), "mallory"); err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 10)
	defer h.addListener("o", listener{permit: func(name string, _ permitRequest) permitReply { heard <- name; return permitReply{Wait: true} }})()
	alice := subjects{DefaultPrefix, "alice"}
	question, _ := json.Marshal(permitRequest{"o", 0})
	if _, err := a.nc.SubscribeSync(alice.toAgent(toOrder)); err != nil {
		t.Log(err)
	}
	_ = a.nc.Publish(alice.fromAgent(fromPermit), question)
	_ = a.nc.Publish(a.subjects.fromAgent(fromPermit), question)
	_ = a.nc.Flush()
	if name := <-heard; name != "mallory" {
		t.Errorf("%s was heard", name)
	}
	select {
	case name := <-heard:
		t.Errorf("%s was heard", name)
	case <-time.After(50 * time.Millisecond):
	}
}

// TestForged: what no agent sends is refused with a line, and nothing is taken in.
func TestForged(t *testing.T) {
	t.Parallel()
	h := hub(t, HubOptions{})
	run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: []string{"a", "b"}, Share: 2, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(string, string) {}}
	if err := run.openJournal(); err != nil {
		t.Fatal(err)
	}
	defer run.journal.Close()
	if err := run.record(event{What: "begin", Order: "o", Machine: "a"}); err != nil {
		t.Fatal(err)
	}
	if p := run.answerPermit("b", permitRequest{"o", 0}); p.Gone == "" {
		t.Errorf("another machine was given a round: %+v", p)
	}
	if p := run.answerPermit("a", permitRequest{"o", 7}); p.Gone == "" {
		t.Errorf("rounds that nobody gave were taken for done: %+v", p)
	}
	for done := range 2 {
		if p := run.answerPermit("a", permitRequest{"o", done}); p.Round == 0 {
			t.Fatalf("%+v", p)
		}
		if p := run.answerPermit("a", permitRequest{"o", done}); p.Round != done+1 {
			t.Errorf("asked again it is another: %+v", p)
		}
	}
	order := StudyOrder{ID: "s", Seed: 5}
	whole := func() *tare.Result { return result(order, 2) }
	send := func(r *tare.Result) error {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return run.acceptOutcome("a", outcome{Order: "o", Result: text})
	}
	if err := send(whole()); err == nil {
		t.Error("a result was taken before the rounds were over")
	}
	run.pool.findAssignment("o").state, run.pool.findAssignment("o").done = ended, 2
	for why, change := range map[string]func(*tare.Result){
		"study":               func(r *tare.Result) { r.Study = "other" },
		"seed":                func(r *tare.Result) { r.Seed = "6" },
		"3 rounds":            func(r *tare.Result) { r.RoundsDone = 3 },
		"0 rounds":            func(r *tare.Result) { r.RoundsDone = 0 },
		"effects":             func(r *tare.Result) { r.Rounds[0].Effects = make([]float64, 9) },
		"impossible ratio":    func(r *tare.Result) { r.Rounds[0].Effects[0] = 100 },
		"impossible interval": func(r *tare.Result) { r.Comparisons[0].Low = 1.15 },
		"several machines":    func(r *tare.Result) { r.Machines = make([]tare.OnMachine, 1) },
	} {
		r := whole()
		change(r)
		if err := send(r); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	small := `{"schema":"tare.result/1","study":"s","trials":[` + strings.Repeat("{},", 4<<20) + "{}]}" // takes 1 GB
	if err := run.acceptOutcome("a", outcome{Order: "o", Result: []byte(small)}); err == nil || !strings.Contains(err.Error(), "more than 768 MiB of memory") {
		t.Errorf("a result that takes much memory: %v", err)
	}
	if err := run.acceptOutcome("b", outcome{Order: "o"}); err == nil {
		t.Error("a result was taken of a machine that had no order")
	}
	if run.pool.countMissing() != 4 {
		t.Errorf("%d rounds are left of 4: something was taken in", run.pool.countMissing())
	}
	if err := send(whole()); err != nil {
		t.Error(err)
	}
	if err := send(whole()); err == nil {
		t.Error("a result was taken twice")
	}
	if run.pool.countMissing() != 2 {
		t.Errorf("%d rounds are left", run.pool.countMissing())
	}
}

// A machine that was lost and ends that order with an error takes another.
func TestErrorOfLostOrder(t *testing.T) {
	t.Parallel()
	h := hub(t, HubOptions{})
	run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: []string{"a"}, Share: 2, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(string, string) {}}
	var orders atomic.Int64
	piped(t, h, &Agent{Prefix: DefaultPrefix, Study: func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
		if orders.Add(1) < 3 {
			run.mu.Lock()
			order := run.pool.assignmentOf("a").order
			run.mu.Unlock()
			run.takeBack(order, "a", errors.New("no word from it"))
			if err := run.acceptOutcome("a", outcome{Order: order, Error: "it was lost"}); err == nil {
				t.Error("the error of a lost order was taken in")
			}
			<-ctx.Done() // the coordinator cancels it before it gives the next
			return nil, context.Cause(ctx)
		}
		for done := range o.Most {
			if _, err := task.Permit(ctx, done); err != nil {
				return nil, err
			}
		}
		return json.Marshal(result(o, o.Most))
	}}, "a")
	results, err := run.Run(t.Context())
	if err != nil || len(results) != 1 || orders.Load() != 3 {
		t.Errorf("%d results after %d orders: %v", len(results), orders.Load(), err)
	}
}

// Parcels are whole, each once, and of a bounded size.
func TestParcels(t *testing.T) {
	var got [][]byte
	d := &parcelReceiver{maxBytes: 2*maxPart + 10, take: func(_ string, body []byte) error {
		got = append(got, body)
		if len(body) == 1 {
			return errors.New("too short")
		}
		return nil
	}}
	put := func(id string, n, of int, data []byte) string {
		text, err := json.Marshal(parcelPart{id, n, of, data})
		if err != nil {
			t.Fatal(err)
		}
		return d.receivePart("a", text).Refused
	}
	full, rest := bytes.Repeat([]byte("x"), maxPart), []byte("rest")
	for range 2 { // sent again, a part changes nothing
		if why := put("p", 0, 2, full); why != "" {
			t.Fatal(why)
		}
	}
	if why := put("p", 1, 2, rest); why != "" || len(got) != 1 || len(got[0]) != maxPart+4 {
		t.Fatalf("%q, %d parcels", why, len(got))
	}
	if why := put("p", 1, 2, rest); why != "" || len(got) != 1 {
		t.Errorf("a parcel was taken in twice: %q", why)
	}
	if why := put("q", 0, 1, []byte("x")); why != "too short" {
		t.Error(why)
	}
	for what, why := range map[string]string{
		"a part is missing": put("r", 1, 2, rest), "too long": put("s", 0, 4, full), "short": put("t", 0, 2, rest), "none": put("u", -1, 1, rest),
		"no part": d.receivePart("a", []byte("nonsense")).Refused,
	} {
		if why == "" {
			t.Errorf("%s: taken in", what)
		}
	}
}

// Names of machines, as --on has them.
func TestMachines(t *testing.T) {
	got, err := ReadMachines([]string{"local", "ssh:me@b.example", "agent:rack-7"})
	if err != nil || len(got) != 3 || got[1].Host != "me@b.example" || CheckName(got[1].Name) != nil || !got[2].Join {
		t.Errorf("%+v, %v", got, err)
	}
	for _, on := range [][]string{{"a"}, {"ssh:"}, {"ssh:-oProxyCommand=sh"}, {"ssh:a b"}, {"ssh:a;b"}, {"local", "local"}, {""}, {"agent:a.b"}, {"agent:coordinator"}, {"ssh:a", "agent:a"}} {
		if _, err := ReadMachines(on); err == nil {
			t.Errorf("%q was taken", on)
		}
	}
	if a, b := agentName("me@b.example"), agentName("me.b@example"); a == b {
		t.Errorf("two hosts are both %s", a)
	}
}

// A journal that cannot be written ends the run: no round is given that is not in it.
func TestJournalBreaks(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	m := join(t, c.url(), "broken", "a")
	defer m.kill()
	h := hub(t, HubOptions{URL: c.url(), Prefix: "broken"})
	run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: []string{"a"}, Share: 1000, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(string, string) {}}
	go func() {
		until(t, func() bool {
			run.mu.Lock()
			defer run.mu.Unlock()
			return run.pool != nil && run.pool.assignmentOf("a") != nil && run.pool.assignmentOf("a").done > 2
		})
		run.mu.Lock()
		defer run.mu.Unlock()
		run.journal.Close()
	}()
	results, err := run.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "write the journal") || len(results) > 0 {
		t.Errorf("%v, %v", results, err)
	}
}
