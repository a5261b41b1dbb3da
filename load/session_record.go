package load

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tarebench/tare/load/hist"
)

// exchange is one request in flight: its times and byte counts.
type exchange struct {
	index    int   // in Options.Requests
	measured bool  // open loop: the intended time is in the measured part
	intended int64 // ns
	sent     int64 // of the first try, ns
	first    int64 // first byte of the response, ns; 0 if none has arrived
	parts    int   // of the response so far
	bytesOut int
	bytesIn  int64

	tries   int
	verify  bool
	numbers []int64 // numbers in the request; see Fill
}

// requestStats counts the outcomes of the measured requests of one second, or of all seconds.
type requestStats struct {
	second      int // since measuring began
	requests    int64
	lost        int64 // requests without a complete response
	errors      [classCount]int64
	unsolicited int64 // times that bytes arrived without a request
	bytesIn     int64
	bytesOut    int64
	bodyIn      int64
	bodyOut     int64
	statuses    [1000]int64
	codes       [codeCount]int64

	singlePart hist.Hist // ns from sending to a response in one part
	multiPart  hist.Hist // ns from sending to a response in several parts, or to a timeout
	firstByte  hist.Hist // ns from sending to the first of several parts
	latency    hist.Hist // open loop: ns from the intended time to the response
	lag        hist.Hist // open loop: ns from the intended time to sending
}

func (s *requestStats) addStats(o *requestStats) {
	s.requests += o.requests
	s.lost += o.lost
	for i, n := range o.errors {
		s.errors[i] += n
	}
	s.unsolicited += o.unsolicited
	s.bytesIn += o.bytesIn
	s.bytesOut += o.bytesOut
	s.bodyIn += o.bodyIn
	s.bodyOut += o.bodyOut
	for i, n := range o.statuses {
		s.statuses[i] += n
	}
	for i, n := range o.codes {
		s.codes[i] += n
	}
	s.singlePart.Merge(&o.singlePart)
	s.multiPart.Merge(&o.multiPart)
	s.firstByte.Merge(&o.firstByte)
	s.latency.Merge(&o.latency)
	s.lag.Merge(&o.lag)
}

func (s *requestStats) resetStats() {
	for _, h := range []*hist.Hist{&s.singlePart, &s.multiPart, &s.firstByte, &s.latency, &s.lag} {
		h.Reset()
	}
	s.second, s.requests, s.lost, s.unsolicited = 0, 0, 0, 0
	s.bytesIn, s.bytesOut, s.bodyIn, s.bodyOut = 0, 0, 0, 0
	s.errors, s.statuses, s.codes = [classCount]int64{}, [1000]int64{}, [codeCount]int64{}
}

const (
	classConnect = iota
	classReset
	classTimeout
	classFraming
	classStatus
	classAnswer
	classCount
)

// recorder records the outcomes of one thread in a phase. A collector gets each complete second and adds up
// all threads. Callers pass the time: a recorder never reads the clock.
type recorder struct {
	thread     int // index of the thread in the collector
	s          *settings
	r          *run
	current    requestStats
	blocks     []Block     // nil if no intervals are needed
	steps      []stepStats // nil if the profile has no steps
	secondEnd  int64       // end of the current second in ns; 0 if nothing has been measured
	inFlight   inFlightArea
	totals     Totals
	connects   hist.Hist // ns
	handshakes hist.Hist // ns

	resumed       int64
	reopened      int64 // connections that replaced another
	connectErrors int64
	resent        int64
	toVerify      int // responses until the next one to verify
}

type inFlightArea struct {
	n    int64
	last int64   // ns of the last change
	area float64 // requests × ns
}

// change adds d to the number of requests in flight at time now. Goroutines can call it out of order; a
// late call corrects the area. Only time between begin and end counts. begin 0 means that nothing counts
// yet.
func (l *inFlightArea) change(now, begin, end, d int64) {
	if begin != 0 {
		l.area += float64(l.n) * float64(overlapTime(l.last, now, begin, end))
		l.area += float64(d) * float64(overlapTime(now, l.last, begin, end))
	}
	l.last = max(l.last, now)
	l.n += d
}

// overlapTime returns how much of [from, to] is between begin and end. end 0 means unlimited.
func overlapTime(from, to, begin, end int64) int64 {
	if from = max(from, begin); end != 0 {
		to = min(to, end)
	}
	return max(0, to-from)
}

func (m *recorder) start(r *run) {
	m.r, m.secondEnd = r, 0
	m.inFlight = inFlightArea{last: r.s.nowNS()}
	m.current.resetStats()
	m.blocks, m.steps = newBlocks(r.leg), newSteps(r.leg)
	m.connects.Reset()
	m.handshakes.Reset()
	m.totals, m.resumed, m.reopened, m.connectErrors, m.resent = Totals{}, 0, 0, 0, 0
}

// stop passes the rest of the records to the collector at the end of the phase.
func (m *recorder) stop() {
	begin, end := m.r.measuredSpan()
	m.inFlight.change(end, begin, end, 0)
	m.r.collector.addRest(m)
	m.r = nil
}

// recordSend is called right before a request is sent. A request that is sent again counts only as resent:
// it has been in flight since its first try.
func (m *recorder) recordSend(q *exchange, now int64) {
	if q.tries++; q.tries > 1 {
		m.resent++
		return
	}
	begin, end := m.r.measuredSpan()
	m.inFlight.change(now, begin, end, 1)
	m.totals.Sent++
	m.totals.Body += int64(m.s.requests[q.index].body)
}

// finishRequest counts the outcome of a request. It returns the requestStats to record it in, or nil if it
// is not measured.
func (m *recorder) finishRequest(q *exchange, now int64, failed bool) *requestStats {
	begin, end := m.r.measuredSpan()
	m.inFlight.change(now, begin, end, -1)
	measured := q.measured
	if m.r.queue == nil {
		measured = m.r.countOutcome(now, failed)
	}
	if !measured {
		return nil
	}
	s := m.statsAt(now)
	s.bytesOut += int64(q.bytesOut)
	s.bytesIn += q.bytesIn
	s.bodyOut += int64(m.s.requests[q.index].body)
	if m.r.queue != nil {
		s.lag.Record(q.sent - q.intended)
	}
	return s
}

// recordResponse records a complete response. now is the time of its last byte. The session's totals
// include unmeasured responses.
func (m *recorder) recordResponse(q *exchange, a response, now int64) {
	m.totals.BodyIn += a.body
	s := m.finishRequest(q, now, false)
	request := &m.s.requests[q.index]
	accepted := m.s.accepts[a.status]
	if request.status != 0 {
		accepted = a.status == request.status
	}
	var verifyErr error
	if a.storeBody && m.s.Verify != nil {
		verifyErr = m.s.Verify(q.index, a.status, a.stored)
	}
	if accepted && verifyErr == nil {
		m.totals.Acked += request.items
	}
	if s == nil {
		return
	}
	s.requests++
	s.statuses[a.status]++
	if a.rpc {
		s.codes[knownCode(a.code)]++
	}
	s.bodyIn += a.body
	latency := m.recordTimes(s, q, now)
	block := m.blockAt(now)
	block.recordEnd()
	block.recordLatency(m.r.leg.Hold, latency)
	step, stepBlock := m.stepAt(q)
	step.recordEnd(true)
	step.recordLatency(latency)
	stepBlock.recordEnd()
	stepBlock.recordLatency(m.r.leg.Hold, latency)
	if !accepted {
		s.errors[classStatus]++
		block.recordError()
		step.recordError(classStatus)
		stepBlock.recordError()
		if !m.r.hasFirst.Load() {
			m.r.recordFirst(ErrStatus, statusError(a, request.status))
		}
	}
	if verifyErr != nil {
		s.errors[classAnswer]++
		block.recordError()
		step.recordError(classAnswer)
		stepBlock.recordError()
		m.r.recordFirst(ErrAnswer, verifyErr)
	}
}

// recordTimes records the times of a complete response in s, and returns its latency in ns.
func (m *recorder) recordTimes(s *requestStats, q *exchange, now int64) (latency int64) {
	if q.parts > 1 {
		s.multiPart.Record(now - q.sent)
		s.firstByte.Record(q.first - q.sent)
	} else {
		s.singlePart.Record(now - q.sent)
	}
	if m.r.queue == nil {
		return now - q.sent
	}
	latency = now - q.intended
	s.latency.Record(latency)
	return latency
}

// statusError returns an error with the status of a response. want is the expected status; 0 means several.
func statusError(a response, want int) error {
	got := strconv.Itoa(a.status)
	if a.rpc {
		got = fmt.Sprintf("grpc-status %d (%s)", a.code, CodeName(a.code))
	}
	if want == 0 {
		return errors.New(got)
	}
	return fmt.Errorf("%s instead of %d", got, want)
}

// recordFailure records a request without a complete response. Only timeouts have a latency, at least the
// timeout.
func (m *recorder) recordFailure(q *exchange, class int, err error, now int64) {
	m.r.recordFirst(Classes()[class], err)
	s := m.finishRequest(q, now, true)
	if s == nil {
		return
	}
	s.lost++
	s.errors[class]++
	block := m.blockAt(now)
	block.recordEnd()
	block.recordError()
	step, stepBlock := m.stepAt(q)
	step.recordEnd(false)
	step.recordError(class)
	stepBlock.recordEnd()
	stepBlock.recordError()
	if class != classTimeout {
		return
	}
	timeout := int64(m.s.Timeout)
	latency := max(timeout, now-q.sent)
	s.multiPart.Record(latency)
	if q.first != 0 {
		s.firstByte.Record(q.first - q.sent)
	}
	if m.r.queue != nil {
		latency = max(timeout, now-q.intended)
		s.latency.Record(latency)
	}
	block.recordLatency(m.r.leg.Hold, latency)
	step.recordLatency(latency)
	stepBlock.recordLatency(m.r.leg.Hold, latency)
}

func (m *recorder) recordUnsolicited(now int64) {
	m.r.recordFirst(ErrFraming, errUnsolicited)
	if m.r.begin.Load() == 0 || m.r.end.Load() != 0 {
		return
	}
	s := m.statsAt(now)
	s.errors[classFraming]++
	s.unsolicited++
}

func (m *recorder) recordConnectError(err error) {
	m.r.recordFirst(ErrConnect, err)
	m.connectErrors++
}

// recordConnect records a connection that was opened within took ns. again means that it replaces another
// one.
func (m *recorder) recordConnect(took int64, again bool) {
	m.connects.Record(took)
	m.totals.Opened++
	if again {
		m.reopened++
	}
}

func (m *recorder) recordHandshake(took int64, resumed bool) {
	m.handshakes.Record(took)
	if resumed {
		m.resumed++
	}
}

// takeVerify counts a request, and reports whether its response is in the sample to verify.
func (m *recorder) takeVerify() bool {
	if m.s.Verify == nil {
		return false
	}
	if m.toVerify--; m.toVerify < 0 {
		m.toVerify = m.s.Sample - 1
		return true
	}
	return false
}

func (m *recorder) statsAt(now int64) *requestStats {
	if now >= m.secondEnd {
		m.rollSecond(now)
	}
	return &m.current
}

// rollSecond begins a new second if the current one is over. It is called before every record, and once a
// second by idle threads.
func (m *recorder) rollSecond(now int64) {
	begin := m.r.begin.Load()
	if begin == 0 || now < m.secondEnd {
		return
	}
	if m.secondEnd != 0 {
		m.r.collector.addSecond(m)
		m.current.resetStats()
	}
	m.current.second = int(max(0, now-begin) / int64(time.Second))
	m.secondEnd = begin + int64(m.current.second+1)*int64(time.Second)
	m.r.collector.advanceTo(m.thread, m.current.second)
}
