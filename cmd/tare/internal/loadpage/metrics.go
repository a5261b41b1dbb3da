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

// sample is one value of a metric. Samples of the same metric have different labels.
type sample struct {
	label      string // name of the label; "" if the metric has one sample
	labelValue string
	value      float64
}

// WriteMetrics writes d, the result of a load test, as OpenMetrics, which Prometheus reads, too. It
// writes a gauge for each value, as in tare_load_requests{url="http://localhost:8080/"} 5000
func WriteMetrics(w io.Writer, d load.Document, now time.Time) error {
	out := bufio.NewWriter(w)
	writeMetric := func(name, help string, samples ...sample) {
		if len(samples) == 0 {
			return
		}
		fmt.Fprintf(out, "# TYPE %s gauge\n# HELP %s %s\n", name, name, help)
		for _, s := range samples {
			labels := "url=" + format.Label(d.URL)
			if s.label != "" {
				labels += "," + s.label + "=" + format.Label(s.labelValue)
			}
			fmt.Fprintf(out, "%s{%s} %s\n", name, labels, strconv.FormatFloat(s.value, 'g', -1, 64))
		}
	}
	single := func(x float64) sample { return sample{value: x} }
	writeMetric("tare_load_requests", "Requests with a complete response, whatever its status.", single(float64(d.Requests)))
	writeMetric("tare_load_sent", "Requests sent.", single(float64(d.Sent)))
	writeMetric("tare_load_requests_per_second", "Requests answered in a second.", single(d.RequestsPerSecond))
	if d.RateAsked > 0 {
		writeMetric("tare_load_rate_asked", "Requests per second that were requested.", single(d.RateAsked))
		writeMetric("tare_load_late", "Requests that were due and not sent when the time was over.", single(float64(d.Late)))
	}
	writeMetric("tare_load_latency_seconds", "Latency of a request by quantile; 1 is the maximum.", quantileSamples(d.Latency)...)
	writeMetric("tare_load_service_seconds", "The same from sending a request.", quantileSamples(d.Service)...)
	if d.TLS != nil {
		writeMetric("tare_load_handshake_seconds", "Handshakes of TLS.", quantileSamples(d.TLS.Handshake)...)
	}
	var errors []sample
	for _, class := range load.Classes() {
		errors = append(errors, sample{"class", string(class), float64(d.Errors[string(class)])})
	}
	writeMetric("tare_load_errors", "Errors by class.", errors...)
	writeMetric("tare_load_answers", "Answers by status of HTTP.", countSamples("status", d.Statuses)...)
	writeMetric("tare_load_calls", "Answers by status of gRPC.", countSamples("grpc_status", d.Codes)...)
	writeMetric("tare_load_client_cpu_seconds", "CPU time of the load generator.", single(d.ClientCPUSeconds))
	if d.ServerCPUSeconds > 0 {
		writeMetric("tare_load_server_cpu_seconds", "CPU time of the server.", single(d.ServerCPUSeconds))
	}
	writeMetric("tare_load_limit", "1 for what set the limit.", sample{"limit", d.Limit, 1})
	writeMetric("tare_load_capacity", "1 if rate and latencies may be told of the server.", single(toNumber(d.Capacity)))
	var drifts, shown []sample
	for _, x := range d.Drift {
		name := x.Of + "_" + x.Unit
		drifts = append(drifts, sample{"of", name, x.Change})
		shown = append(shown, sample{"of", name, toNumber(x.Shown)})
	}
	writeMetric("tare_load_drift", "Change from the beginning of the phase to its end, in the unit of its name.", drifts...)
	writeMetric("tare_load_drift_shown", "1 if the interval of the change excludes zero.", shown...)
	var objectives []sample
	for _, slo := range d.SLO {
		if slo.Verdict == tare.Met || slo.Verdict == tare.NotMet { // others are undecided
			objectives = append(objectives, sample{"objective", slo.Objective, toNumber(slo.Verdict == tare.Met)})
		}
	}
	writeMetric("tare_load_objective_met", "1 if the objective is met; without a ruling it is not listed.", objectives...)
	if search := d.Search; search != nil {
		writeMetric("tare_load_search_requests_per_second", "The most requests per second that were confirmed; 0 if none were.", single(search.PerSecond))
	}
	writeMetric("tare_load_measured_timestamp_seconds", "When it was measured.", single(float64(now.Unix())))
	fmt.Fprintln(out, "# EOF")
	return out.Flush()
}

func toNumber(isTrue bool) float64 {
	if isTrue {
		return 1
	}
	return 0
}

func countSamples(label string, counts map[string]int64) []sample {
	var out []sample
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, sample{label, key, float64(counts[key])})
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
	}{
		{"0.5", l.P50}, {"0.75", l.P75}, {"0.9", l.P90}, {"0.95", l.P95}, {"0.99", l.P99}, {"0.999", l.P999}, {"1", l.Max},
	} {
		out = append(out, sample{"quantile", q.name, float64(q.ns) / 1e9})
	}
	return out
}
