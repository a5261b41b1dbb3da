package figures

// allRules returns the rules in the order of docs/audit.md.
func allRules() []rule {
	return []rule{
		// for results of any tool
		singleRun(), fewRepetitions(), identicalFigures(), partAboveWhole(), mixOutsideParts(), bytesBelowResult(),
		// for reports of load generators
		littlesLaw(), rateDisagrees(), errorsLeftOut(), fewRequests(), shortRun(), generatorLimit(), sharedMachine(), closedLoop(), pausedUsers(), bodiesDiffer(),
		curlBody(), terminalLog(), loadNotOffered(),
		// for the prose and the tables of pages
		ratioDiffers(), wrongBase(), directionDiffers(), inverseThroughput(), mixedUnits(), unsupportedSignificance(), criterionCannotFail(), targetMisread(),
		scalingClaim(), causeNotSeparated(), successNotCounted(), notDropIn(),
	}
}

// Rules recommend these commands. exactCommand inserts the benchmark, URL or connections of a
// finding.
const (
	benchCommand    = "tare bench --base main"
	benchAllCommand = "tare bench ./... --base main"
	exampleURL      = "http://127.0.0.1:8080/"
	loadCommand     = "tare load -c 50 -d 30s --rate 1000/s " + exampleURL
	searchCommand   = "tare load --slo 'p99<50ms,errors<0.1%' --search " + exampleURL
	compareCommand  = "tare load --start './a -port $PORT' --start './b -port $PORT' /path"
)
