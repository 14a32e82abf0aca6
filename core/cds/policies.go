package cds

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	security "istio.io/api/security/v1beta1"
	securityv1 "istio.io/client-go/pkg/apis/security/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const annotationDryRun = "istio.io/dry-run"

// policies are the AuthorizationPolicies for one workload, by action; those of
// the root namespace first.
type policies map[security.AuthorizationPolicy_Action][]*securityv1.AuthorizationPolicy

func policiesFor(snap *state.Snapshot, p *model.Proxy) policies {
	namespaces := []string{snap.Mesh.RootNamespace, p.Namespace}
	out := policies{}
	for _, ns := range slices.Compact(namespaces) {
		var list []*securityv1.AuthorizationPolicy
		for c := range snap.ConfigsIn(model.KindAuthorizationPolicy, ns) {
			if o, ok := c.Object.(*securityv1.AuthorizationPolicy); ok && selects(&o.Spec, p) {
				list = append(list, o)
			}
		}
		slices.SortStableFunc(list, func(a, b *securityv1.AuthorizationPolicy) int {
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
		for _, o := range list {
			out[o.Spec.GetAction()] = append(out[o.Spec.GetAction()], o)
		}
	}
	return out
}

// selects tells whether a policy is for the workload. One with targetRefs is for
// gateways of the Gateway API, which are not here.
func selects(spec *security.AuthorizationPolicy, p *model.Proxy) bool {
	return spec.GetTargetRef() == nil && len(spec.GetTargetRefs()) == 0 &&
		model.Labels(spec.GetSelector().GetMatchLabels()).SubsetOf(p.Labels)
}

// filters lists the filters of a listener: external authorization first, then
// what is logged, denied and allowed.
func (ps policies) filters(snap *state.Snapshot, http, tcp bool) []AuthzFilter {
	var out []AuthzFilter
	out = append(out, ps.custom(snap, http, tcp)...)
	for _, a := range []security.AuthorizationPolicy_Action{
		security.AuthorizationPolicy_AUDIT, security.AuthorizationPolicy_DENY, security.AuthorizationPolicy_ALLOW,
	} {
		if len(ps[a]) == 0 {
			continue
		}
		if http {
			out = append(out, plain(httpRBAC, a, ps[a], false))
		}
		if tcp {
			out = append(out, plain(tcpRBAC, a, ps[a], true))
		}
	}
	return out
}

// custom asks the one provider of the CUSTOM policies; if it cannot, it denies
// what the policies speak of.
func (ps policies) custom(snap *state.Snapshot, http, tcp bool) []AuthzFilter {
	list := ps[security.AuthorizationPolicy_CUSTOM]
	if len(list) == 0 {
		return nil
	}
	name := list[0].Spec.GetProvider().GetName()
	x, ok := findProvider(snap, name)
	for _, o := range list {
		ok = ok && o.Spec.GetProvider().GetName() == name
	}
	names := ruleNames(list, authzPrefix+"-", knownAttributes, func(o *securityv1.AuthorizationPolicy) bool { return !dryRun(o) })
	var out []AuthzFilter
	if !ok {
		for i := range names {
			names[i] += badCustom
		}
		rules := &AuthzRules{Action: "DENY", Policies: names}
		if http {
			out = append(out, AuthzFilter{Filter: httpRBAC, Rules: rules})
		}
		if tcp {
			out = append(out, AuthzFilter{Filter: tcpRBAC, Rules: rules})
		}
		return out
	}
	var shadow *AuthzRules // none if all policies are only tried
	if !allDry(list) {
		shadow = &AuthzRules{Action: "DENY", Policies: names}
	}
	if http {
		out = append(out, AuthzFilter{Filter: httpRBAC, ShadowRules: shadow, ShadowRulesStatPrefix: shadowPrefix}, *x.http)
	}
	if tcp && x.tcp != nil {
		out = append(out, AuthzFilter{Filter: tcpRBAC, ShadowRules: shadow, ShadowRulesStatPrefix: shadowPrefix}, *x.tcp)
	}
	return out
}

// plain is the filter of an action that needs nobody else.
func plain(filter string, action security.AuthorizationPolicy_Action, list []*securityv1.AuthorizationPolicy, tcp bool) AuthzFilter {
	name := action.String()
	if action == security.AuthorizationPolicy_AUDIT {
		name = "LOG"
	}
	// The prefix is there even if nothing is only tried.
	f := AuthzFilter{Filter: filter, ShadowRulesStatPrefix: "istio_dry_run_allow_"}
	fits := knownAttributes
	if action == security.AuthorizationPolicy_ALLOW {
		fits = func(r *security.Rule) bool { return canAllow(r, tcp) }
	}
	if !allDry(list) {
		f.Rules = &AuthzRules{Action: name, Policies: ruleNames(list, "", fits, func(o *securityv1.AuthorizationPolicy) bool { return !dryRun(o) })}
	}
	if slices.ContainsFunc(list, dryRun) {
		f.ShadowRules = &AuthzRules{Action: name, Policies: ruleNames(list, "", fits, dryRun)}
		f.ShadowRulesStatPrefix = ""
		if action != security.AuthorizationPolicy_AUDIT {
			f.ShadowRulesStatPrefix = "istio_dry_run_" + strings.ToLower(name) + "_"
		}
	}
	return f
}

func allDry(list []*securityv1.AuthorizationPolicy) bool {
	return !slices.ContainsFunc(list, func(o *securityv1.AuthorizationPolicy) bool { return !dryRun(o) })
}

func dryRun(o *securityv1.AuthorizationPolicy) bool {
	on, err := strconv.ParseBool(o.Annotations[annotationDryRun])
	return err == nil && on
}

// ruleNames names the rules that fit of those policies that are taken, sorted. A
// policy without rules is one that never matches.
func ruleNames(list []*securityv1.AuthorizationPolicy, prefix string, fits func(*security.Rule) bool, take func(*securityv1.AuthorizationPolicy) bool) []string {
	var out []string
	for _, o := range list {
		if !take(o) {
			continue
		}
		name := prefix + "ns[" + o.Namespace + "]-policy[" + o.Name + "]-rule["
		for i, r := range o.Spec.GetRules() {
			if r != nil && fits(r) {
				out = append(out, name+strconv.Itoa(i)+"]")
			}
		}
		if len(o.Spec.GetRules()) == 0 {
			out = append(out, name+"0]")
		}
	}
	slices.Sort(out)
	return out
}
