// Package explain answers why a proxy has an endpoint or not.
//
// What comes in is a Question and one Snapshot; what goes out is an Answer: the
// verdict of each step from the slice to the proxy, with the object, the field
// and both sides of the comparison, and one sentence that names the cause.
//
// The verdicts are those of the production build: the candidates' admission
// reasons, the scope's imports, exclusions and verdicts on DestinationRules, and the
// reasons parallel to the candidates of an Assignment. This package only finds the
// operands and the words. Objects that the snapshot does not hold (Pods, Namespaces, legacy
// Endpoints) are read from the source, where need be through an index that follows
// the journal, and the past from the journal; without them the answer is the same
// with less evidence.
//
// Objects of namespaces which the asker may not see are never named.
package explain
