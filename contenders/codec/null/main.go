// Command null is one of the programs with a codec that tare compares, called contenders. Its codec does
// nothing, so that its measured cost is the cost of the measurement itself.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Null()) }
