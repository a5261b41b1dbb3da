package report

import "github.com/tarebench/tare"

// csvDriving is a row for everything trials recorded about how a server was
// driven on a workload.
func csvDriving(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, w := range r.Workloads {
		if w.Traffic == nil {
			continue
		}
		for _, c := range r.Contenders {
			all := samples(r, c.ID, w.ID)
			about := csvAbout(r, "driving", c.ID)
			about.workload, about.text, about.void = w.ID, traffic(r, *w.Traffic), r.Voids(c.ID, w.ID)
			for _, d := range append(dials(*w.Traffic), dial{csv: tare.KeyErrors, of: keyed(tare.KeyErrors), added: true}, dial{csv: tare.KeyTimeouts, of: keyed(tare.KeyTimeouts), added: true}) {
				row := about
				row.metric = tare.Metric{Name: d.csv, Unit: d.base()}
				least, most, ok := extent(all, d.of)
				switch {
				case !ok:
					continue
				case d.added:
					sum, _ := total(all, d.of)
					row.value = &tare.Value{Value: sum, Rounds: len(all)}
				default:
					row.value, row.bounded, row.ranged = &tare.Value{Low: least, High: most, Rounds: len(all)}, true, true
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// base is the unit in which a dial is read.
func (d dial) base() string {
	switch d.csv {
	case tare.KeyRate:
		return "1/s"
	case tare.KeySendLag:
		return "ns"
	case tare.KeyBytesSent, tare.KeyBytesReceived, tare.KeyOutput:
		return "B/op"
	case tare.KeyLayers:
		return "calls/op"
	case serverBusy, generatorBusy:
		return "%"
	}
	return ""
}

// csvDecomposition is two rows for every step of a decomposition and for the
// whole: the contender it leads to against the one before, and its share.
func csvDecomposition(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, d := range r.Decomposition {
		whole := d.Whole
		whole.Cause = "the whole"
		for i, c := range append(append([]tare.Cause(nil), d.Steps...), whole) {
			row := csvAbout(r, "decomposition", c.To)
			row.workload, row.metric, row.text = d.Workload, metricNamed(d.Metric), d.ID+": "+c.Cause
			row.void = append(r.VoidsMetric(c.To, d.Workload, d.Metric), r.VoidsMetric(c.From, d.Workload, d.Metric)...)
			row.against = c.From
			if c.Rounds > 0 {
				row.value = &tare.Value{Value: c.ToValue, Rounds: c.Rounds}
				row.comparison = &tare.Comparison{Contender: c.To, Against: c.From, Ratio: c.Ratio, Low: c.Low, High: c.High, Level: c.Level, Exact: c.Low > 0 && c.Low == c.High}
			}
			rows = append(rows, row)
			if i < len(d.Steps) && wasTold(d) {
				row.metric, row.comparison, row.level = tare.Metric{Name: d.Metric + "_share"}, nil, c.Level
				row.value, row.bounded = &tare.Value{Value: c.Share, Low: c.ShareLow, High: c.ShareHigh, Rounds: c.Rounds}, true
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// csvProfiles is two rows for every function of a profile, after one with the
// total and where the file is, and one for each part and function of its
// difference to another.
func csvProfiles(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, p := range r.Profiles {
		add := func(metric string, value float64, text string) {
			row := csvAbout(r, "profile", p.Contender)
			row.workload, row.metric, row.text = p.Workload, tare.Metric{Name: p.Of + "_" + metric, Unit: p.Unit}, text
			row.value = &tare.Value{Value: value}
			rows = append(rows, row)
		}
		add("total", p.Total, p.File)
		for _, line := range p.Top {
			add("own", line.Flat, line.Function)
			add("with_calls", line.Cumulative, line.Function)
		}
		if p.Gap == nil {
			continue
		}
		for _, half := range halves(p) {
			for _, line := range half.lines {
				add("difference_per_op", line.To-line.From, half.kind+": "+line.Name)
				rows[len(rows)-1].against = p.Gap.Against
			}
		}
	}
	return rows
}
