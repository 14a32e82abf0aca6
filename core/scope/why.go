package scope

// Why says why a definition is used or not.
type Why uint8

// The reasons for use, those for not being seen, and those for not being used though
// it is seen. Of several for one definition the last counts.
const (
	WhyOnly         Why = iota // the only definition of the hostname in view
	WhyOwnNamespace            // of the client's namespace
	WhyKubernetes              // a Service before ServiceEntries
	WhyOldest                  // the first of several
	WhyRoute                   // a destination of a VirtualService in scope

	WhyNotExported  // exportTo does not name the client's namespace
	WhyNotImported  // no egress host of the Sidecar matches
	WhyListenerPort // an egress host matches, but the listener's port is not one of the service's
	WhyNotRouted    // no VirtualService of the router's Gateways sends requests to it

	WhyOtherWon      // another namespace's definition of the hostname is used
	WhyKubernetesWon // a Service has the hostname
	WhyOlderWon      // an older definition has the hostname
	WhyMerged        // its ports are merged into the definition in use
	whyCount
)

type whyText struct{ slug, text string }

var whyTexts = [whyCount]whyText{ //nolint:gochecknoglobals // a constant table
	WhyOnly:          {"only", "it is the only definition of the hostname that the client sees"},
	WhyOwnNamespace:  {"own-namespace", "it is of the client's own namespace, which goes before all others"},
	WhyKubernetes:    {"kubernetes", "a Kubernetes Service goes before ServiceEntries"},
	WhyOldest:        {"oldest", "it is the first of the definitions of the hostname that the client sees"},
	WhyRoute:         {"route", "a VirtualService in scope sends requests to it"},
	WhyNotExported:   {"not-exported", "exportTo does not let the client's namespace see it"},
	WhyNotImported:   {"not-imported", "no egress host of the Sidecar matches it"},
	WhyListenerPort:  {"listener-port", "an egress host matches it, but it lacks the port of the egress listener"},
	WhyNotRouted:     {"not-routed", "no VirtualService of the router's Gateways sends requests to it, and no extension provider is it"},
	WhyOtherWon:      {"other-namespace-won", "the definition of another namespace is used"},
	WhyKubernetesWon: {"kubernetes-won", "a Kubernetes Service has the hostname"},
	WhyOlderWon:      {"older-won", "an older definition of the hostname is used, and the ports of the two cannot be merged"},
	WhyMerged:        {"merged", "its ports are merged into the definition that is used"},
}

// Used tells whether the reason is one for use.
func (w Why) Used() bool { return w < WhyNotExported }

// lost tells whether the definition is seen, and another one is used.
func (w Why) lost() bool { return w >= WhyOtherWon }

// String gives the slug used in JSON.
func (w Why) String() string {
	if w >= whyCount {
		return "invalid"
	}
	return whyTexts[w].slug
}

// MarshalText gives the slug.
func (w Why) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// Text says the reason in words.
func (w Why) Text() string {
	if w >= whyCount {
		return "invalid"
	}
	return whyTexts[w].text
}
