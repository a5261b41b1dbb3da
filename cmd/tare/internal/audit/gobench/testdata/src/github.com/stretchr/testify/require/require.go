package require

import "time"

type TestingT interface{ FailNow() }

func Eventually(t TestingT, condition func() bool, waitFor, tick time.Duration) {}
