// The fields of templates/web/planning/plan.eta.

import { Type } from '../../../lib/type.js'
import type { Choices } from './choices.js'

export const PlanFields = {
  assignee_id: Type.Optional(Type.Integer()),
  milestone_id: Type.Optional(Type.Integer()),
  labels: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 500 })),
  new_labels: Type.Optional(Type.String({ maxLength: 2000 })),
  /** What the form showed at first, as JSON. */
  plan_was: Type.Optional(Type.String({ maxLength: 100_000 }))
}

export interface PlanForm {
  readonly assignee_id?: number
  readonly milestone_id?: number
  readonly labels?: readonly string[]
  readonly new_labels?: string
  readonly plan_was?: string
}

/** What the rules take: the titles of the labels as one text. A form without the fields changes nothing. */
export function planOf({ assignee_id, milestone_id, labels, new_labels: added }: PlanForm) {
  const titles = [...(labels ?? []), ...(added === undefined ? [] : [added])].filter(title => title !== '')
  return {
    ...(assignee_id !== undefined && { assignee_id }),
    ...(milestone_id !== undefined && { milestone_id }),
    ...(labels !== undefined && { labels: titles.join(',') })
  }
}

/**
 * Returns only what the visitor has changed in a form: somebody else may have changed the rest since it was opened. `labels` are the
 * current ones, of which the visitor has added and removed some.
 */
export function planChangeOf(form: PlanForm, labels: readonly string[]) {
  const plan = planOf(form)
  const was = parseWas(form.plan_was)
  if (!was) return plan
  const wanted = plan.labels?.split(',').filter(title => title !== '') ?? was.labels
  const added = wanted.filter(title => !was.labels.includes(title))
  const removed = was.labels.filter(title => !wanted.includes(title))
  const kept = labels.filter(title => !removed.includes(title))
  return {
    ...(plan.assignee_id !== undefined && plan.assignee_id !== was.assignee && { assignee_id: plan.assignee_id }),
    ...(plan.milestone_id !== undefined && plan.milestone_id !== was.milestone && { milestone_id: plan.milestone_id }),
    ...(added.length + removed.length > 0 && { labels: [...kept, ...added].join(',') })
  }
}

interface Was {
  readonly assignee: number
  readonly milestone: number
  readonly labels: readonly string[]
}

/** Returns undefined for anything that no form contains. */
function parseWas(text = ''): Was | undefined {
  try {
    const { assignee, milestone, labels } = JSON.parse(text) as Partial<Was>
    if (!Number.isInteger(assignee) || !Number.isInteger(milestone) || !Array.isArray(labels)) return undefined
    return { assignee: Number(assignee), milestone: Number(milestone), labels: labels.map(String) }
  } catch {
    return undefined
  }
}

interface Person {
  readonly id: number
  readonly name: string
  readonly username: string
}

/** What the fields show. */
export interface ShownPlan {
  readonly assignee: Person | null
  readonly milestone: { readonly id: number; readonly title: string } | null
  readonly labels: readonly string[]
  readonly newLabels?: string | undefined
  /** What the form showed at first, once it was sent. */
  readonly was?: string | undefined
}

/** Returns the plan with what the visitor has entered in a form that was refused. */
export function withEntered(plan: ShownPlan, entered: PlanForm, { members, milestones }: Choices): ShownPlan {
  const { assignee_id: assignee, milestone_id: milestone, labels, new_labels: newLabels, plan_was: was } = entered
  return {
    assignee:
      assignee === undefined || assignee === plan.assignee?.id
        ? plan.assignee
        : (members.find(({ id }) => id === assignee) ?? null),
    milestone:
      milestone === undefined || milestone === plan.milestone?.id
        ? plan.milestone
        : (milestones.find(({ id }) => id === milestone) ?? null),
    labels: labels?.filter(title => title !== '') ?? plan.labels,
    newLabels,
    was
  }
}
