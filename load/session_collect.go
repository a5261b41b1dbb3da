package load

import (
	"math"
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
}

// second is one second, as far as threads have handed it over.
type second struct {
	requests, errors int64
	latency          hist.Hist
}

func newCollector(r *run, threads int) *collector {
	c := &collector{r: r, at: make([]int, threads), seconds: map[int]*second{}, conns: new(hist.Hist), shakes: new(hist.Hist)}
	if r.leg.Tick != nil {
		c.ticks, c.told = make(chan Second, 64), make(chan struct{})
		go func() {
			defer close(c.told)
			for s := range c.ticks {
				r.leg.Tick(s)
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
	for _, n := range s.errors {
		sec.errors += n
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
		line := Second{At: time.Duration(c.next) * time.Second}
		if s := c.seconds[c.next]; s != nil {
			line.Requests, line.Errors = s.requests, s.errors
			line.P50, line.P99 = time.Duration(s.latency.Quantile(0.5)), time.Duration(s.latency.Quantile(0.99))
			delete(c.seconds, c.next)
		}
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
	c.reachedLocked(m.thread, math.MaxInt)
}

// result is what came of a leg that all threads are done with.
func (r *run) result() *Result {
	c, t := r.collector, &r.collector.total
	if c.ticks != nil {
		close(c.ticks)
		<-c.told
	}
	out := &Result{
		Engine: r.engine.name(), Connections: r.s.Connections, Streams: r.s.Streams, Threads: r.engine.threads(),
		Wall:     r.wall(),
		Sent:     t.requests + t.lost,
		Requests: t.requests, Unasked: t.unasked,
		Statuses: map[int]int64{}, Errors: map[Class]int64{}, FirstError: r.first,
		Opened: c.all.Opened, Reconnects: c.reopened,
		Latency: new(hist.Hist), Service: new(hist.Hist), FirstByte: new(hist.Hist), SendLag: new(hist.Hist), Connect: c.conns,
		Handshake: c.shakes, Resumed: c.resumed,
		BytesIn: t.bytesIn, BytesOut: t.bytesOut, BodyIn: t.bodyIn, BodyOut: t.bodyOut,
		CPU: r.used[1].cpu - r.used[0].cpu, Wait: -1, Timeline: c.timeline,
	}
	if r.used[0].wait >= 0 && r.used[1].wait >= 0 {
		out.Wait = r.used[1].wait - r.used[0].wait
	}
	for code, n := range t.statuses {
		if n > 0 {
			out.Statuses[code] = n
		}
	}
	t.errors[ofConnect] += c.refused
	for class, n := range t.errors {
		if n > 0 {
			out.Errors[Classes()[class]] = n
		}
	}
	out.Service.Merge(&t.whole)
	out.FirstByte.Merge(&t.whole)
	out.Service.Merge(&t.parts)
	out.FirstByte.Merge(&t.firstByte)
	out.SendLag.Merge(&t.lag)
	if out.Wall > 0 {
		out.Concurrency = c.area / float64(out.Wall)
	}
	if r.queue == nil {
		out.Latency.Merge(out.Service)
		return out
	}
	out.Latency.Merge(&t.latency)
	if out.Wall > 0 {
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
