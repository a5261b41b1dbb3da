package server

import (
	"context"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

// This file sums up what the load generator and the server report about a workload. For example, it
// divides the server's CPU time by the number of operations.

// trafficSum adds up the load generator's measurements of one workload.
type trafficSum struct {
	perOp                      int64     // requests of one operation
	answered, failed, timeouts int64     // numbers of requests
	wall                       float64   // measured time in ns
	server, client             float64   // CPU time in ns
	serverWaited, clientWaited float64   // ns ready to run without a processor; -1 if unknown
	inFlight                   float64   // integral of requests in flight over ns
	requested                  float64   // integral of the intended requests per second over ns
	bytesIn, bytesOut          int64     // bytes on the wire
	bodyIn, bodyOut            int64     // bytes of bodies
	latency, service, lag      hist.Hist // ns, as in load.Result
}

func (t *trafficSum) addLeg(r *load.Result, server cpuUse) {
	wall := float64(r.Wall)
	t.answered += r.Requests
	t.failed += countFailures(r)
	t.timeouts += r.Errors[load.ErrTimeout]
	t.wall += wall
	t.server += float64(server.cpu)
	t.serverWaited += float64(server.waited)
	if r.Wait < 0 || t.clientWaited < 0 {
		t.clientWaited = -1
	} else {
		t.clientWaited += float64(r.Wait)
	}
	t.client += float64(r.CPU)
	t.inFlight += r.Concurrency * wall
	t.requested += r.Asked * wall
	t.bytesIn, t.bytesOut = t.bytesIn+r.BytesIn, t.bytesOut+r.BytesOut
	t.bodyIn, t.bodyOut = t.bodyIn+r.BodyIn, t.bodyOut+r.BodyOut
	for sum, added := range map[*hist.Hist]*hist.Hist{&t.latency: r.Latency, &t.service: r.Service, &t.lag: r.SendLag} {
		if added != nil {
			sum.Merge(added)
		}
	}
}

// Gauges returns the measurements since the workload with id on was prepared, and the encoded
// histogram of latencies, or "". The lab calls it after the last request, so that the server's
// counts are complete. For tare.OpStop it then stops the server.
func (c *conn) Gauges(workloadID string) (tare.Sample, string) {
	c.calls.Lock()
	defer c.calls.Unlock()
	w := c.work
	if w == nil || w.workload.ID != workloadID {
		return nil, ""
	}
	s := w.sum.toSample()
	client, isOwnClient := w.session.(*ownClient)
	if isOwnClient {
		c.addClientValues(s, client)
	}
	sent := w.sentTotals()
	s[tare.KeyClientCores] = float64(c.cores.clients)
	switch {
	case !isOwnClient:
		s[tare.KeyConnects], s[tare.KeyConnections] = float64(sent.Opened), float64(w.traffic.Connections)
	case client.metered:
		s[tare.KeyConnects], s[tare.KeyConnections] = float64(sent.Opened), float64(client.plannedConns(sent.Opened))
	}
	if c.process != nil {
		s[tare.KeyServerCores] = float64(c.cores.servers)
		s[tare.KeyServerCPU] = w.sum.server
		if w.sum.serverWaited > 0 {
			s[tare.KeyServerWait] = w.sum.serverWaited
		}
		if sent.Sent > 0 {
			s[tare.KeyOutput] = float64(c.countOutput(w)-w.printed) / float64(sent.Sent)
		}
		if peak := sumPeaks(c.process.PIDs()); peak > 0 {
			s[tare.KeyResident] = float64(peak)
		}
	}
	c.addReceipts(s, sent)
	c.measureStop(s)
	if w.traffic.Segment == 0 || w.sum.latency.Count() == 0 {
		return s, ""
	}
	h := &w.sum.latency
	for _, m := range tare.Metrics() {
		if m.IsLatency() {
			s[m.Key] = float64(h.Quantile(m.Quantile))
		}
	}
	return s, h.Encode()
}

// toSample returns the values that follow from the sums. They are per operation: the values of its
// requests are added up.
func (t *trafficSum) toSample() tare.Sample {
	perOp := float64(max(1, t.perOp))
	ops := float64(t.answered) / perOp
	s := tare.Sample{
		tare.KeyRequests: ops,
		tare.KeyErrors:   float64(t.failed),
		tare.KeyTimeouts: float64(t.timeouts),
	}
	if t.wall == 0 || t.answered == 0 {
		return s
	}
	s[tare.KeyWall] = t.wall
	s[tare.KeyConcurrency] = t.inFlight / t.wall
	s[tare.KeyMeanLatency] = t.service.Mean() * perOp
	s[tare.KeyRate] = ops / (t.wall / 1e9)
	s[tare.KeyClientCPU] = t.client
	if t.clientWaited >= 0 {
		s[tare.KeyClientWait] = t.clientWaited
	}
	for key, total := range map[string]float64{
		tare.KeyClientCPUPerOp: t.client,
		tare.KeyBytesSent:      float64(t.bytesOut),
		tare.KeyBytesReceived:  float64(t.bytesIn),
		tare.KeyBodySent:       float64(t.bodyOut),
		tare.KeyBodyReceived:   float64(t.bodyIn),
	} {
		s[key] = total / ops
	}
	if t.requested > 0 {
		s[tare.KeyRateAsked] = t.requested / t.wall
		s[tare.KeySendLag] = float64(t.lag.Quantile(0.99))
		s[tare.KeySendLagP50] = float64(t.lag.Quantile(0.5))
	}
	return s
}

// addReceipts adds to s the numbers of requests and bytes that the server has counted, and those
// that were sent to it. Checks compare both.
func (c *conn) addReceipts(s tare.Sample, sent load.Totals) {
	switch {
	case c.failure != nil || c.work.stopped:
		return
	case c.program == nil:
		c.addDelivered(s, sent, 0)
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, trial.Deadline(wire.OpStats, 0))
	defer cancel()
	a, err := c.readCounters(ctx)
	if err != nil {
		return
	}
	c.addDelivered(s, sent, a.Delivered)
	if a.Received == 0 {
		return
	}
	s[tare.KeyReceived], s[tare.KeyReceivedSent] = float64(a.Received), float64(sent.Sent)
	if _, isOwnClient := c.work.session.(*ownClient); !isOwnClient { // a client does not report the lengths of bodies
		s[tare.KeyReceivedBody], s[tare.KeySentBody] = float64(a.ReceivedBody), float64(sent.Body)
	}
	s[tare.KeyLayers] = float64(a.LayerCalls) / float64(a.Received)
}

// sumPeaks returns the sum of the peak memory of processes in bytes. The peaks may be at different
// times.
func sumPeaks(pids []int) int64 {
	var sum int64
	for _, pid := range pids {
		n, _ := machine.PeakResident(pid)
		sum += n
	}
	return sum
}
