package figures

// allRules returns the rules for results and pages, in the order in which they are listed.
func allRules() []rule {
	return []rule{
		// of any results
		singleRun(), fewRepetitions(), identicalFigures(), partAboveWhole(), mixOutsideParts(), bytesBelowResult(),
		// of load generators
		littlesLaw(), rateDisagrees(), errorsLeftOut(), fewRequests(), shortRun(), generatorLimit(), sharedMachine(), closedLoop(), pausedUsers(), bodiesDiffer(),
		curlBody(), terminalLog(), loadNotOffered(),
		// of pages
		ratioDiffers(), wrongBase(), directionDiffers(), inverseThroughput(), mixedUnits(), unsupportedSignificance(), criterionCannotFail(), targetMisread(),
		scalingClaim(), causeNotSeparated(), successNotCounted(), notDropIn(),
	}
}

// Commands that measure properly what findings are about.
const (
	benchCommand    = "tare bench --base main" // of the benchmark that a finding is about
	benchAllCommand = "tare bench ./... --base main"
	exampleURL      = "http://127.0.0.1:8080/"
	loadCommand     = "tare load -c 50 -d 30s --rate 1000/s " + exampleURL
	searchCommand   = "tare load --slo 'p99<50ms,errors<0.1%' --search " + exampleURL
	compareCommand  = "tare load --start './a -port $PORT' --start './b -port $PORT' /path"
)
