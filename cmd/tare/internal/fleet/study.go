package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/internal/whole"
)

// JournalName is the file of a run's directory that says which machine has which
// round.
const JournalName = "rounds.ndjson"

// head begins a journal.
type head struct {
	Protocol string     `json:"protocol"`
	Run      string     `json:"run"`
	Machines []string   `json:"machines"` // names of agents
	Share    int        `json:"share"`    // rounds of each
	Study    StudyOrder `json:"study"`
}

// StudyRun carries a study out on several machines.
type StudyRun struct {
	Hub      *Hub
	Dir      string // of the journal and the results; made if missing
	Machines []string
	Share    int // rounds of each machine
	Study    StudyOrder
	Say      func(name, line string)
	Start    map[string]func(ctx context.Context) error // starts a machine's agent, by name; those that are not in it join by themselves
	Contents map[string]Content                         // of the order's files, by hash

	// Read reads the results in what an agent sends; nil: it is one.
	Read func(name string, document []byte) ([]*tare.Result, error)

	disk     whole.Disk // nil: the system's
	mu       sync.Mutex
	pool     *pool
	journal  *os.File
	run      string
	results  map[string]Delivered // by order
	failed   map[string]error     // the last error of a machine, by name
	given    map[string]time.Time // when orders were taken in by their machines
	hopeless map[string]bool      // machines that refused an order, or could not carry it out
	refused  map[string]error     // why a result was not taken in, by order
	unkept   map[string]bool      // orders whose result could not be written at first
	coming   map[string]bool      // machines that are about to get an order
	placing  map[string]bool      // orders on their way: to a machine that tare may have to be copied to first
	broken   error                // why the journal cannot be written; nil: it can
	changed  chan struct{}
	opened   time.Time

	reading sync.Mutex // the memory of a document is bounded: there is one at a time
}

// Delivered is what one machine measured, and the document that it sent.
type Delivered struct {
	judge.Measured
	Document []byte
}

// Run has every machine measure its share, gives the rounds of one that is lost to
// others, and returns the results in the order of the machines. The error tells
// of machines that failed; it does not keep the others from measuring. The
// journal of an earlier run of the same in Dir is gone on with.
func (r *StudyRun) Run(ctx context.Context) ([]Delivered, error) {
	if err := r.open(); err != nil {
		return nil, err
	}
	defer r.journal.Close()
	r.failed, r.given, r.hopeless, r.refused, r.unkept, r.coming, r.placing = map[string]error{}, map[string]time.Time{}, map[string]bool{}, map[string]error{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	r.changed, r.opened = make(chan struct{}, 1), time.Now()
	for name := range r.Start {
		if s := r.pool.of(name); s != nil && s.state != delivered { // the hub does not listen yet: nothing else reads or writes the pool
			r.lose(s.order, name, errors.New("it ended with the coordinator that had started it"))
		}
	}
	defer r.Hub.listen(r.run, listener{ask: r.ask, file: r.file, result: r.deliver})()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var began sync.WaitGroup
	defer began.Wait()
	for _, name := range r.Machines {
		r.mu.Lock()
		free := r.pool.of(name) == nil // else it has an order of the run that is gone on with
		if free {
			r.coming[name] = true
		}
		r.mu.Unlock()
		if free {
			began.Go(func() { r.begin(ctx, name) })
		}
	}
	err := r.watch(ctx)
	cancel()
	r.callOff()
	return r.measured(), err
}

// watch waits until all rounds are in results, or nobody is left to measure them.
func (r *StudyRun) watch(ctx context.Context) error {
	tick := time.NewTicker(r.Hub.o.times.again)
	defer tick.Stop()
	last, told := time.Now(), false // when a machine was at work; whether it was said that none is
	for {
		r.loseSilent()
		r.mu.Lock()
		left, active, starting, broken := r.pool.left(), r.pool.active(), r.starting(), r.broken
		again, wait := "", false
		if active || starting {
			last, told = time.Now(), false
		} else if left > 0 {
			again = r.survivor()
			wait = r.mayReturn() && time.Since(last) < 2*r.Hub.o.times.patience
		}
		r.mu.Unlock()
		if wait && again == "" && !told {
			told = true
			r.Say("fleet", fmt.Sprintf("no machine measures; waiting %v for one to come back", 2*r.Hub.o.times.patience))
		}
		switch {
		case broken != nil:
			return broken
		case left == 0:
			return r.failures()
		case again != "":
			r.begin(ctx, again)
		case !active && !starting && !wait:
			return errors.Join(r.failures(), fmt.Errorf("%s of %d were not measured", format.Count(left, "round"), r.Share*len(r.Machines)))
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), r.failures())
		case <-r.changed:
		case <-tick.C:
		}
	}
}

// starting reports whether a machine has no order yet, and is to have one. The
// caller holds the lock.
func (r *StudyRun) starting() bool {
	return slices.ContainsFunc(r.Machines, func(name string) bool {
		return r.coming[name] || r.pool.of(name) == nil && !r.pool.failed(name) && r.failed[name] == nil
	})
}

// survivor is a machine that takes the rounds that nobody has when no machine is at
// work: one that is back after it was silent, else one whose result is here. That
// measures its own rounds once more with them: a result is of one run. The caller
// holds the lock.
func (r *StudyRun) survivor() string {
	there := func(name string) bool {
		silent, err := r.Hub.silent(name)
		return err == nil && silent < 3*r.Hub.o.times.hello && !r.hopeless[name]
	}
	for _, name := range r.Machines {
		if r.pool.of(name) == nil && there(name) {
			return name
		}
	}
	for _, name := range r.Machines {
		if s := r.pool.of(name); s != nil && there(name) {
			_ = r.record(event{What: "lose", Order: s.order, Why: "it measures once more, with rounds that others lost"})
			delete(r.results, s.order)
			return name
		}
	}
	return ""
}

// mayReturn reports whether some machine that is silent may be heard of again. The
// caller holds the lock.
func (r *StudyRun) mayReturn() bool {
	return slices.ContainsFunc(r.Machines, func(name string) bool {
		silent, err := r.Hub.silent(name)
		return err == nil && silent < math.MaxInt64 && !r.hopeless[name]
	})
}

// begin starts a machine's agent, if it has none, and gives it an order.
func (r *StudyRun) begin(ctx context.Context, name string) {
	r.mu.Lock()
	index := slices.Index(r.Machines, name)
	order := Order{Protocol: Protocol, ID: fmt.Sprintf("%s.%d.%d", r.run, index+1, len(r.pool.shifts)+1)}
	study := r.Study
	study.Seed += uint64(index)
	study.Most, study.Share = r.Share*len(r.Machines), r.Share
	order.Study = &study
	for _, s := range r.pool.shifts {
		if s.machine == name {
			r.Hub.cancel(name, s.order) // it may be back with what was taken from it
		}
	}
	err := r.record(event{What: "begin", Order: order.ID, Machine: name})
	delete(r.coming, name)
	r.placing[order.ID] = true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.placing, order.ID)
	}()
	if err == nil {
		err = r.Hub.Reach(ctx, name, r.Start[name])
	}
	if err == nil {
		err = r.Hub.order(ctx, name, order)
	}
	switch {
	case err == nil:
		r.mu.Lock()
		r.given[order.ID] = time.Now() // before it is no longer on its way
		r.mu.Unlock()
	case ctx.Err() == nil:
		r.giveUp(order.ID, name, err)
	}
}

// giveUp loses a machine for good.
func (r *StudyRun) giveUp(order, name string, why error) {
	r.mu.Lock()
	r.hopeless[name] = true
	r.mu.Unlock()
	r.lose(order, name, why)
}

// loseSilent gives up machines that have not been heard of for too long.
func (r *StudyRun) loseSilent() {
	r.mu.Lock()
	var orders []*shift
	for _, s := range r.pool.shifts {
		if s.state == measuring || s.state == ended {
			orders = append(orders, s)
		}
	}
	r.mu.Unlock()
	patience := r.Hub.o.times.patience
	for _, s := range orders {
		r.mu.Lock()
		since, given := r.given[s.order]
		refused, placing := r.refused[s.order], r.placing[s.order]
		r.mu.Unlock()
		if placing {
			continue // who places it says when it takes too long
		}
		if !given {
			since = r.opened.Add(2 * patience) // it was given before this process began
		}
		silent, err := r.Hub.silent(s.machine)
		doing, said := r.Hub.doing(s.machine)
		switch {
		case err != nil:
			r.lose(s.order, s.machine, err)
		case time.Since(since) <= patience:
		case silent > patience:
			r.lose(s.order, s.machine, fmt.Errorf("no word from it for %v", min(silent, time.Since(r.opened)).Round(time.Second)))
		case doing == s.order, said.Before(since): // what it said before it had the order says nothing
		case refused != nil:
			r.giveUp(s.order, s.machine, refused)
		default:
			r.lose(s.order, s.machine, errors.New("it does not know of its order: it was started anew, or the order never came"))
		}
	}
}

// lose takes a machine's rounds back.
func (r *StudyRun) lose(order, name string, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.pool.shift(order)
	if s == nil || s.state == lost || s.state == delivered {
		return
	}
	line := format.Line(why.Error(), format.LineLimit)
	_ = r.record(event{What: "lose", Order: order, Why: line}) // what cannot be written is said
	var nothing *NothingError
	if r.failed[name] = errors.New(line); errors.As(why, &nothing) {
		r.failed[name] = nothing
	}
	text := line
	if n := len(s.rounds); n > 0 {
		text += "; its " + format.Count(n, "round") + " are given to others"
	}
	if r.pool.losses(name) >= mostLosses {
		r.hopeless[name] = true
	}
	r.Say(name, text)
	r.note()
}

// mostLosses are the orders that a machine may lose before it gets no more.
const mostLosses = 5

// note has the watch look again.
func (r *StudyRun) note() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// ask answers an agent that asks for a round.
func (r *StudyRun) ask(name string, q asking) permit {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.pool.shift(q.Order); s == nil || s.machine != name {
		return permit{Gone: "no such order was given to it"}
	}
	answer, changed := r.pool.ask(q.Order, q.Done)
	if changed {
		r.note()
		if r.write(event{What: "ask", Order: q.Order, Done: q.Done}) != nil {
			return permit{Wait: true} // the run ends
		}
	}
	return answer
}

// file answers an agent that asks for a part of a file of its order.
func (r *StudyRun) file(name string, q fetching) fetched {
	r.mu.Lock()
	s := r.pool.shift(q.Order)
	r.mu.Unlock()
	content := r.Contents[q.Hash]
	switch {
	case s == nil || s.machine != name || s.state == lost:
		return fetched{Refused: "no such order was given to it"}
	case content == nil:
		return fetched{Refused: "the order has no such file"}
	}
	return contentPart(content, q.N)
}

// read reads the results of a document.
func (r *StudyRun) read(name string, document []byte) ([]*tare.Result, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.Read != nil {
		return r.Read(name, document)
	}
	return history.Parse(name, document)
}

// deliver takes in what came of an order.
func (r *StudyRun) deliver(name string, o outcome) error {
	r.mu.Lock()
	s := r.pool.shift(o.Order)
	late := s != nil && s.state == lost
	r.mu.Unlock()
	if s == nil || s.machine != name {
		return errors.New("no such order was given to it")
	}
	if late && !o.Nothing {
		return errGivenAway // an error is the end of that order, not of the machine
	}
	if o.Nothing {
		r.giveUp(o.Order, name, &NothingError{format.Line(o.Error, format.LineLimit)})
		return nil
	}
	if o.Error != "" {
		r.giveUp(o.Order, name, errors.New(o.Error))
		return nil
	}
	results, err := r.read("the agent's result", o.Result)
	r.mu.Lock()
	defer r.mu.Unlock()
	var res *tare.Result
	if err == nil {
		study := r.Study
		study.Seed += uint64(slices.Index(r.Machines, name))
		res, err = study.CheckResult(len(s.rounds), results)
	}
	if err != nil {
		err = fmt.Errorf("refused its result: %w", err)
		r.refused[o.Order] = err
		r.Say(name, format.Line(err.Error(), format.LineLimit))
		return err
	}
	if err := r.pool.check(o.Order, res.RoundsDone); err != nil {
		return err
	}
	if err := r.keep(o, res.RoundsDone); err != nil {
		err = fmt.Errorf("cannot keep its result: %w", err)
		if !r.unkept[o.Order] {
			r.unkept[o.Order] = true
			r.Say(name, format.Line(err.Error(), format.LineLimit)+"; it sends it again")
		}
		return &busyError{err.Error()}
	}
	r.results[o.Order] = Delivered{judge.Measured{Name: name, Result: res}, o.Result}
	r.Say(name, format.Count(res.RoundsDone, "round")+" measured")
	r.note()
	return nil
}

// keep writes a result that was checked, and then its line in the journal.
func (r *StudyRun) keep(o outcome, rounds int) error {
	if r.broken != nil {
		return r.broken
	}
	var file string
	for n, err := 1, fs.ErrExist; errors.Is(err, fs.ErrExist); n++ {
		file = fmt.Sprintf("machine-%d.json", len(r.results)+n)
		if err = whole.WriteNew(r.system(), filepath.Join(r.Dir, file), o.Result, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := r.write(event{What: "deliver", Order: o.Order, Done: rounds, File: file}); err != nil {
		return err
	}
	return r.pool.deliver(o.Order, rounds)
}

// callOff has agents that are still at it give up.
func (r *StudyRun) callOff() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.pool.shifts {
		if s.state == measuring || s.state == ended {
			r.Hub.cancel(s.machine, s.order)
		}
	}
}

// measured are the results, in the order of the machines.
func (r *StudyRun) measured() []Delivered {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Delivered
	for _, name := range r.Machines {
		if s := r.pool.of(name); s != nil && s.state == delivered {
			out = append(out, r.results[s.order])
		}
	}
	return out
}

// failures tells of machines that have no result.
func (r *StudyRun) failures() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []error
	for _, name := range r.Machines {
		if err := r.failed[name]; err != nil {
			if s := r.pool.of(name); s == nil || s.state != delivered {
				all = append(all, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return errors.Join(all...)
}

// open reads the journal that is there, or begins one.
func (r *StudyRun) open() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := whole.MakeDir(r.Dir, 0o700); err != nil {
		return fmt.Errorf("make the run's directory: %w", err)
	}
	r.results = map[string]Delivered{}
	path := filepath.Join(r.Dir, JournalName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the journal: %w", err)
	}
	r.pool = newPool(r.Machines, r.Share)
	complete := bytes.LastIndexByte(text, '\n') + 1 // a line that a killed process left is not taken
	if complete > 0 {
		if err := r.replay(text[:complete]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if r.journal, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if err := r.journal.Truncate(int64(complete)); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if _, err := r.journal.Seek(0, 2); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if err := r.system().SyncDir(r.Dir); err != nil { // a journal without a name is none
		return fmt.Errorf("write the journal: %w", err)
	}
	if complete == 0 {
		r.run = fmt.Sprintf("%x", time.Now().UnixNano())
		return r.write(head{Protocol, r.run, r.Machines, r.Share, r.Study})
	}
	return nil
}

// system is the disk that results are written to.
func (r *StudyRun) system() whole.Disk {
	if r.disk == nil {
		return whole.System{}
	}
	return r.disk
}

// Unfinished reads the journal in dir. It returns the seed of the run, and false
// where its result is there, where there is no journal, and where the journal ends in
// its first line. It fails where it cannot know: an older run must not take the place
// of one that cannot be read.
func Unfinished(dir string) (seed uint64, ok bool, err error) {
	if _, err := os.Stat(filepath.Join(dir, history.ResultName)); !errors.Is(err, fs.ErrNotExist) {
		return 0, false, err
	}
	f, err := os.Open(filepath.Join(dir, JournalName))
	if errors.Is(err, os.ErrNotExist) { // it is divided, and the first part has the seed of the run
		f, err = os.Open(filepath.Join(dir, firstPart, JournalName))
	}
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	var h head
	if err := json.Unmarshal(line, &h); err != nil {
		return 0, false, fmt.Errorf("%s:1: damaged: %w", f.Name(), err)
	}
	return h.Study.Seed, true, nil
}

// replay does what the journal says.
func (r *StudyRun) replay(text []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxOrder)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			var h head
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
				return fmt.Errorf("line 1: %w", err)
			}
			same, _ := json.Marshal(head{Protocol, h.Run, r.Machines, r.Share, r.Study})
			if string(same) != lines.Text() {
				return errors.New("it is of another order; ask for the same machines, rounds and study, or leave --resume out")
			}
			r.run = h.Run
			continue
		}
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := r.pool.apply(e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if s := r.pool.shift(e.Order); e.What == "deliver" {
			document, err := os.ReadFile(filepath.Join(r.Dir, filepath.Base(e.File)))
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			results, err := r.read(e.File, document)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			r.results[e.Order] = Delivered{judge.Measured{Name: s.machine, Result: results[0]}, document}
		} else if e.What == "lose" {
			delete(r.results, e.Order)
		}
	}
	return lines.Err()
}

// record does what happens and writes it down.
func (r *StudyRun) record(e event) error {
	if err := r.pool.apply(e); err != nil {
		return err
	}
	return r.write(e)
}

// write adds a line to the journal. It is on the disk before a machine is answered.
// Behind a line that may be torn there is no other.
func (r *StudyRun) write(line any) error {
	if r.broken != nil {
		return r.broken
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = r.journal.Write(append(text, '\n'))
	}
	if err == nil {
		err = r.journal.Sync()
	}
	if err != nil {
		err = fmt.Errorf("write the journal: %w", err)
		r.broken = cmp.Or(r.broken, err)
	}
	return err
}
