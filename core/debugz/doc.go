// Package debugz says what the core holds in the JSON of istiod's debug
// handlers, so that what reads istiod's can read Edsight's.
//
// A snapshot comes in; values go out whose JSON is that of Istio 1.28.2. What
// can be large is a sequence of parts, which WriteList and WriteObject encode
// one by one, so that no answer is ever in memory as a whole.
package debugz
