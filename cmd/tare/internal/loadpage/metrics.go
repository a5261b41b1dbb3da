package loadpage

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// sample is one value of a family, with its distinguishing label.
type sample struct {
	label, of string
	value     float64
}

// WriteMetrics writes d as OpenMetrics, which Prometheus reads too: a gauge for each value,
// labelled with the server's URL.
func WriteMetrics(w io.Writer, d load.Document, now time.Time) error {
	out := bufio.NewWriter(w)
	family := func(name, help string, samples ...sample) {
		if len(samples) == 0 {
			return
		}
		fmt.Fprintf(out, "# TYPE %s gauge\n# HELP %s %s\n", name, name, help)
		for _, s := range samples {
			labels := "url=" + format.Label(d.URL)
			if s.label != "" {
				labels += "," + s.label + "=" + format.Label(s.of)
			}
			fmt.Fprintf(out, "%s{%s} %s\n", name, labels, strconv.FormatFloat(s.value, 'g', -1, 64))
		}
	}
	one := func(x float64) sample { return sample{value: x} }
	family("tare_load_requests", "Requests answered whole, whatever their status.", one(float64(d.Requests)))
	family("tare_load_sent", "Requests sent.", one(float64(d.Sent)))
	family("tare_load_requests_per_second", "Requests answered in a second.", one(d.RequestsPerSecond))
	if d.RateAsked > 0 {
		family("tare_load_rate_asked", "Requests per second that were asked for.", one(d.RateAsked))
		family("tare_load_late", "Requests that were due and not sent when the time was over.", one(float64(d.Late)))
	}
	family("tare_load_latency_seconds", "Latency of a request by quantile; 1 is the maximum.", quantileSamples(d.Latency)...)
	family("tare_load_service_seconds", "The same from sending a request.", quantileSamples(d.Service)...)
	if d.TLS != nil {
		family("tare_load_handshake_seconds", "Handshakes of TLS.", quantileSamples(d.TLS.Handshake)...)
	}
	var errors []sample
	for _, class := range load.Classes() {
		errors = append(errors, sample{"class", string(class), float64(d.Errors[string(class)])})
	}
	family("tare_load_errors", "Errors by class.", errors...)
	family("tare_load_answers", "Answers by status of HTTP.", countSamples("status", d.Statuses)...)
	family("tare_load_calls", "Answers by status of gRPC.", countSamples("grpc_status", d.Codes)...)
	family("tare_load_client_cpu_seconds", "CPU time of the load generator.", one(d.ClientCPUSeconds))
	if d.ServerCPUSeconds > 0 {
		family("tare_load_server_cpu_seconds", "CPU time of the server.", one(d.ServerCPUSeconds))
	}
	family("tare_load_limit", "1 for what set the limit.", sample{"limit", d.Limit, 1})
	family("tare_load_capacity", "1 if rate and latencies may be told of the server.", one(toNumber(d.Capacity)))
	var drifts, shown []sample
	for _, x := range d.Drift {
		of := x.Of + "_" + x.Unit
		drifts, shown = append(drifts, sample{"of", of, x.Change}), append(shown, sample{"of", of, toNumber(x.Shown)})
	}
	family("tare_load_drift", "Change from the beginning of the leg to its end, in the unit of its name.", drifts...)
	family("tare_load_drift_shown", "1 if the interval of the change excludes zero.", shown...)
	var kept []sample
	for _, k := range d.SLO {
		if k.Verdict == tare.Met || k.Verdict == tare.NotMet {
			kept = append(kept, sample{"objective", k.Objective, toNumber(k.Verdict == tare.Met)})
		}
	}
	family("tare_load_objective_met", "1 if the objective is met; without a ruling it is not listed.", kept...)
	if s := d.Search; s != nil {
		family("tare_load_search_requests_per_second", "The most requests per second that were confirmed; 0 if none were.", one(s.PerSecond))
	}
	family("tare_load_measured_timestamp_seconds", "When it was measured.", one(float64(now.Unix())))
	fmt.Fprintln(out, "# EOF")
	return out.Flush()
}

func toNumber(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

func countSamples(label string, by map[string]int64) []sample {
	var out []sample
	for _, key := range slices.Sorted(maps.Keys(by)) {
		out = append(out, sample{label, key, float64(by[key])})
	}
	return out
}

func quantileSamples(l load.Latencies) []sample {
	if l.Count == 0 {
		return nil
	}
	var out []sample
	for _, q := range []struct {
		name string
		ns   int64
	}{{"0.5", l.P50}, {"0.75", l.P75}, {"0.9", l.P90}, {"0.95", l.P95}, {"0.99", l.P99}, {"0.999", l.P999}, {"1", l.Max}} {
		out = append(out, sample{"quantile", q.name, float64(q.ns) / 1e9})
	}
	return out
}
