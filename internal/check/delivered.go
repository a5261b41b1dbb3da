package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const maxReceiptOff = 0.01 // tolerated relative difference between received and sent

// deliveredEvents compares what one end sent with what the other end received. For example, the
// load generator sent 1000 requests and the server counted 950: the contender is void.
func deliveredEvents() Check {
	return Check{
		ID:       "delivered",
		Severity: tare.Void,
		Summary: "What the server reports as answered must be what the load generator sent, lead-ins included. A contender is void on a workload where the two differ by more than 1 % " + byRounds + ". " +
			"If requests are batches of events for a destination, the events that arrived there are compared with the acknowledged events in the same way; and the contender is void if a single acknowledged event did not arrive. " +
			"The check does not apply to servers that do not report these counts.",
		Why: "A service that discards the error of its decoder answers 200 to events that it never parsed, and is fast. " +
			"A load generator sees only the answer; only the other end knows whether anything arrived.",
		Advice:             "look for something that answers instead of the server (a proxy, a cache, a middleware that returns early), or for requests that were sent twice",
		adviceIsForAuthors: true,
		voidReasons: func(in Input, contender string) []voidReason {
			return append(in.receiptReasons(contender, tare.KeyReceived, tare.KeyReceivedSent),
				in.receiptReasons(contender, tare.KeyDelivered, tare.KeyDeliveredAsked)...)
		},
		Run: func(in Input) []tare.Finding {
			out := in.findReceiptGaps(tare.KeyReceived, tare.KeyReceivedSent, "the server counted %s requests where %s were sent")
			return append(out, in.findDeliveryGaps()...)
		},
	}
}

// findDeliveryGaps finds contenders whose destination received another number of events than they
// acknowledged. It reports a lost event immediately, and extra events at the end.
func (in Input) findDeliveryGaps() []tare.Finding {
	lossy := map[subject]bool{} // contenders that lost events
	var out []tare.Finding
	for _, w := range in.Study.Workloads {
		for _, c := range in.measuredContenders() {
			if lost, acknowledged, trials := in.countLost(c.ID, w.ID); trials > 0 {
				lossy[subject{c.ID, w.ID}] = true
				out = append(out, tare.Finding{
					Contender: c.ID, Workload: w.ID,
					Message: fmt.Sprintf("%s of %s events that were acknowledged did not arrive, in %s", formatNumber(lost), formatNumber(acknowledged), format.Count(trials, "trial")),
					Advice:  "the contender must not acknowledge events before they are at their destination, or must answer with an error",
				})
			}
		}
	}
	for _, f := range in.findReceiptGaps(tare.KeyDelivered, tare.KeyDeliveredAsked, "%s events arrived where %s were acknowledged") {
		if !lossy[subject{f.Contender, f.Workload}] {
			f.Advice = "look for batches that were accepted twice, or accepted and answered with an error"
			out = append(out, f)
		}
	}
	return out
}

// countLost returns the trials with lost events, and how many of their events were lost and
// acknowledged. A trial is one process of a contender in one round.
func (in Input) countLost(contender, workload string) (lost, acknowledged float64, trials int) {
	const rounding = 0.5 // integers, read as floats
	for _, t := range in.Trials {
		s := t.Samples[workload]
		arrived, okArrived := s[tare.KeyDelivered]
		acked, okAcked := s[tare.KeyDeliveredAsked]
		isKnown := okAcked && okArrived && t.Error == nil
		if t.Contender == contender && isKnown && acked-arrived > rounding {
			lost += acked - arrived
			acknowledged += acked
			trials++
		}
	}
	return lost, acknowledged, trials
}

// receiptReasons returns a reason to void contender for each workload: the ratio of the values of
// keys got and sent is not 1.
func (in Input) receiptReasons(contender, got, sent string) (out []voidReason) {
	for _, w := range in.Study.Workloads {
		out = append(out, voidReason{notNearOne(in.perRound(contender, w.ID, readRatio([]string{got}, []string{sent})), maxReceiptOff)})
	}
	return out
}

// findReceiptGaps finds contenders whose values of the sample keys got and sent differ. text is the
// format of the message, with a verb for the received value and one for the sent value.
func (in Input) findReceiptGaps(got, sent, text string) []tare.Finding {
	if !in.Final {
		return nil
	}
	var out []tare.Finding
	for _, w := range in.Study.Workloads {
		for _, c := range in.measuredContenders() {
			e, ok := in.estimateValue(c.ID, w.ID, readRatio([]string{got}, []string{sent}))
			if !ok || !e.isFarFromOne(maxReceiptOff) {
				continue
			}
			sentPerRound, _ := in.estimateValue(c.ID, w.ID, readKey(sent))
			out = append(out, tare.Finding{
				Contender: c.ID, Workload: w.ID,
				Message: fmt.Sprintf(text, formatNumber(e.mid*sentPerRound.mid), formatNumber(sentPerRound.mid)) +
					fmt.Sprintf(" (%.3g×, %.3g to %.3g, %s)", e.mid, e.lo, e.hi, format.Count(e.rounds, "round")),
			})
		}
	}
	return out
}
