package load

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare/load/hist"
)

// collector gathers what the threads of a leg recorded: the sums, and a line
// for each second that is over for all of them.
type collector struct {
	r *run

	mu       sync.Mutex
	total    slab
	at       []int // by thread: the second it records
	next     int   // the first second that is not told yet
	seconds  map[int]*second
	timeline []Second
	ticks    chan Second // nil: nobody listens
	told     chan struct{}

	area     float64
	conns    *hist.Hist
	shakes   *hist.Hist
	all      Totals
	resumed  int64
	reopened int64
	refused  int64
	resent   int64
	blocks   []Block
	steps    []stepping
}

// second is one second, as far as threads have handed it over.
type second struct {
	requests int64
	errors   [classes]int64
	latency  hist.Hist
}

// binsPerDoubling is how finely a second's latencies are kept.
const binsPerDoubling = 4

// line is what is kept of a second that is over.
func (s *second) line(at time.Duration) Second {
	out := Second{At: at}
	if s == nil {
		return out
	}
	out.Requests, out.Classes = s.requests, named(s.errors)
	for _, n := range s.errors {
		out.Errors += n
	}
	q := func(share float64) time.Duration { return time.Duration(s.latency.Quantile(share)) }
	out.P50, out.P99, out.Max, out.Bins = q(0.5), q(0.99), q(1), s.latency.Bins(binsPerDoubling)
	return out
}

// named are errors by class; nil: there are none.
func named(errors [classes]int64) map[Class]int64 {
	var out map[Class]int64
	for class, n := range errors {
		if n > 0 && out == nil {
			out = map[Class]int64{}
		}
		if n > 0 {
			out[Classes()[class]] = n
		}
	}
	return out
}

func newCollector(r *run, threads int) *collector {
	c := &collector{r: r, at: make([]int, threads), seconds: map[int]*second{}, conns: new(hist.Hist), shakes: new(hist.Hist), blocks: newBlocks(r.leg), steps: newSteps(r.leg)}
	if r.leg.Tick != nil {
		c.ticks, c.told = make(chan Second, 64), make(chan struct{})
		go func() {
			defer close(c.told)
			for s := range c.ticks {
				r.leg.Tick(Tick{Second: s, SoFar: c.soFar(s.At + time.Second)})
			}
		}()
	}
	return c
}

// add takes what a thread recorded in one second.
func (c *collector) add(m *recorder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addLocked(&m.cur)
	c.area += m.level.area
	m.level.area = 0
}

func (c *collector) addLocked(s *slab) {
	c.total.add(s)
	if !c.whole(s.second) {
		return
	}
	sec := c.seconds[s.second]
	if sec == nil {
		sec = new(second)
		c.seconds[s.second] = sec
	}
	sec.requests += s.requests
	for class, n := range s.errors {
		sec.errors[class] += n
	}
	if c.r.queue != nil {
		sec.latency.Merge(&s.latency)
		return
	}
	sec.latency.Merge(&s.whole)
	sec.latency.Merge(&s.parts)
}

// whole reports whether a second was over before the measured part was.
func (c *collector) whole(second int) bool {
	begin, end := c.r.begin.Load(), c.r.end.Load()
	return begin != 0 && (end == 0 || begin+int64(second+1)*int64(time.Second) <= end)
}

// reached notes that a thread records a second and is done with those before.
func (c *collector) reached(thread, second int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reachedLocked(thread, second)
}

func (c *collector) reachedLocked(thread, second int) {
	c.at[thread] = second
	for _, s := range c.at {
		second = min(second, s)
	}
	for ; c.next < second && c.whole(c.next); c.next++ {
		line := c.seconds[c.next].line(time.Duration(c.next) * time.Second)
		delete(c.seconds, c.next)
		c.timeline = append(c.timeline, line)
		if c.ticks == nil {
			continue
		}
		select {
		case c.ticks <- line:
		default: // the listener is a minute behind
		}
	}
}

// last takes what a thread that is done with the leg still has.
func (c *collector) last(m *recorder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.until != 0 {
		c.addLocked(&m.cur)
	}
	c.area += m.level.area
	c.conns.Merge(&m.conns)
	c.shakes.Merge(&m.shakes)
	c.resumed += m.resumed
	c.all = c.all.plus(m.all)
	c.reopened += m.reopened
	c.refused += m.refused
	c.resent += m.resent
	for i, b := range m.blocks {
		c.blocks[i].add(b)
	}
	for i := range m.steps {
		c.steps[i].add(&m.steps[i])
	}
	c.reachedLocked(m.thread, math.MaxInt)
}

// soFar is what there is of a leg that goes on, after the first so much of its
// measured part.
func (c *collector) soFar(wall time.Duration) *Result {
	r := c.r
	r.mu.Lock()
	used, first := r.engine.used(), r.first
	r.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	errors := c.total.errors
	errors[ofConnect] += c.refused
	out := c.account(wall, used, errors)
	out.FirstError = first
	if r.queue != nil {
		out.Asked, out.Late = r.queue.soFar(wall)
	}
	return out
}

// account puts what was gathered into a result. The caller holds the lock.
func (c *collector) account(wall time.Duration, used usage, errors [classes]int64) *Result {
	r, t := c.r, &c.total
	out := &Result{
		Engine: r.engine.name(), Connections: r.s.Connections, Streams: r.s.Streams, Threads: r.engine.threads(),
		Wall:     wall,
		Sent:     t.requests + t.lost,
		Requests: t.requests, Unasked: t.unasked,
		Statuses: map[int]int64{}, Codes: map[int]int64{}, Errors: map[Class]int64{},
		Opened: c.all.Opened, Reconnects: c.reopened, Resent: c.resent,
		Latency: new(hist.Hist), Service: new(hist.Hist), FirstByte: new(hist.Hist), SendLag: new(hist.Hist), Connect: new(hist.Hist),
		Handshake: new(hist.Hist), Resumed: c.resumed,
		BytesIn: t.bytesIn, BytesOut: t.bytesOut, BodyIn: t.bodyIn, BodyOut: t.bodyOut,
		CPU: used.cpu - r.used[0].cpu, Wait: -1, Timeline: slices.Clip(c.timeline),
	}
	if r.used[0].wait >= 0 && used.wait >= 0 {
		out.Wait = used.wait - r.used[0].wait
	}
	for code, n := range t.statuses {
		if n > 0 {
			out.Statuses[code] = n
		}
	}
	for code, n := range t.codes {
		if n > 0 {
			out.Codes[code] = n
		}
	}
	maps.Copy(out.Errors, named(errors))
	out.Service.Merge(&t.whole)
	out.FirstByte.Merge(&t.whole)
	out.Service.Merge(&t.parts)
	out.FirstByte.Merge(&t.firstByte)
	out.SendLag.Merge(&t.lag)
	out.Connect.Merge(c.conns) // copies: a result of a leg that goes on is read while threads add to them
	out.Handshake.Merge(c.shakes)
	if wall > 0 {
		out.Concurrency = c.area / float64(wall)
	}
	if r.queue == nil {
		out.Latency.Merge(out.Service)
	} else {
		out.Latency.Merge(&t.latency)
	}
	return out
}

// result is what came of a leg that all threads are done with.
func (r *run) result() *Result {
	c := r.collector
	if c.ticks != nil {
		close(c.ticks)
		<-c.told
	}
	c.total.errors[ofConnect] += c.refused
	out := c.account(r.wall(), r.used[1], c.total.errors)
	out.FirstError, out.Blocks, out.Steps = r.first, c.blocks, c.stepResults()
	if r.queue != nil && out.Wall > 0 {
		var asked int64
		asked, out.Late = r.queue.rest(r.end.Load())
		out.Asked = float64(asked) / out.Wall.Seconds()
	}
	return out
}

// wall is how long was measured.
func (r *run) wall() time.Duration {
	begin := r.begin.Load()
	if begin == 0 {
		return 0
	}
	return time.Duration(max(0, r.end.Load()-begin))
}
