package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// receiptOff is how far what arrived may be from what was sent.
const receiptOff = 0.01

func delivered() Check {
	return Check{
		ID:       "delivered",
		Severity: tare.Void,
		Summary: "What the server says it answered must be what the load generator sent, lead-ins included. A contender is void on a workload where the two are more than 1 % apart " + byRounds + ". " +
			"Where requests are batches of events that go somewhere, what arrived there is compared with the events that were acknowledged, in the same way; and it is void where a single one of these did not arrive. " +
			"It does not apply to servers that cannot tell.",
		Why: "Services answered 200 to events they had dropped or never parsed, and were published as the fastest. " +
			"A load generator sees only the answer; whether anything arrived, the other end has to say.",
		Advice:  "look at what answers in the server's place (a proxy, a cache, a middleware that returns early), or at requests that were sent twice",
		authors: true,
		suspects: func(in Input, contender string) []suspicion {
			return append(in.receiptSuspects(contender, tare.KeyReceived, tare.KeyReceivedSent),
				in.receiptSuspects(contender, tare.KeyDelivered, tare.KeyDeliveredAsked)...)
		},
		Run: func(in Input) []tare.Finding {
			out := in.receipts(tare.KeyReceived, tare.KeyReceivedSent, "the server counted %s requests where %s were sent")
			return append(out, in.arrivals()...)
		},
	}
}

// arrivals finds where other events arrived than were acknowledged. That one of
// them is lost is seen at once; that there are too many is judged at the end.
func (in Input) arrivals() []tare.Finding {
	said := map[[2]string]bool{}
	var out []tare.Finding
	for _, w := range in.Study.Workloads {
		for _, c := range in.measured() {
			if lost, of, trials := in.lost(c.ID, w.ID); trials > 0 {
				said[[2]string{c.ID, w.ID}] = true
				out = append(out, tare.Finding{
					Contender: c.ID, Workload: w.ID,
					Message: fmt.Sprintf("%s of %s events that were acknowledged did not arrive, in %s", number(lost), number(of), format.Count(trials, "trial")),
					Advice:  "an answer must wait until the events are where they are to stay, or say that they are not",
				})
			}
		}
	}
	for _, f := range in.receipts(tare.KeyDelivered, tare.KeyDeliveredAsked, "%s events arrived where %s were acknowledged") {
		if !said[[2]string{f.Contender, f.Workload}] {
			f.Advice = "look for batches that were taken twice, or taken and answered with an error"
			out = append(out, f)
		}
	}
	return out
}

// lost is how many of the events acknowledged in so many trials did not arrive.
func (in Input) lost(contender, workload string) (lost, of float64, trials int) {
	const rounding = 0.5 // both are counts
	for _, t := range in.Trials {
		s := t.Samples[workload]
		arrived, okArrived := s[tare.KeyDelivered]
		asked, ok := s[tare.KeyDeliveredAsked]
		if t.Contender == contender && t.Error == nil && ok && okArrived && asked-arrived > rounding {
			lost, of, trials = lost+asked-arrived, of+asked, trials+1
		}
	}
	return lost, of, trials
}

// receiptSuspects are what receipts could find of contender.
func (in Input) receiptSuspects(contender, got, sent string) (out []suspicion) {
	for _, w := range in.Study.Workloads {
		out = append(out, suspicion{off(in.perRound(contender, w.ID, ratio([]string{got}, []string{sent})), receiptOff)})
	}
	return out
}

// receipts finds where what the server counted under got is not what was sent.
// said is given both, per round.
func (in Input) receipts(got, sent, said string) []tare.Finding {
	if !in.Final {
		return nil
	}
	var out []tare.Finding
	for _, w := range in.Study.Workloads {
		for _, c := range in.measured() {
			e, ok := over(in.perRound(c.ID, w.ID, ratio([]string{got}, []string{sent})))
			if !ok || !e.off(receiptOff) {
				continue
			}
			asked, _ := over(in.perRound(c.ID, w.ID, key(sent)))
			out = append(out, tare.Finding{
				Contender: c.ID, Workload: w.ID,
				Message: fmt.Sprintf(said, number(e.mid*asked.mid), number(asked.mid)) + fmt.Sprintf(" (%.3g×, %.3g to %.3g, %s)", e.mid, e.lo, e.hi, format.Count(e.rounds, "round")),
			})
		}
	}
	return out
}
