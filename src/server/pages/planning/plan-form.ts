// The fields of templates/web/planning/plan.eta.

import { Type } from '../../../lib/type.js'
import type { Choices } from './choices.js'

export const PlanFields = {
  assignee_id: Type.Optional(Type.Integer()),
  milestone_id: Type.Optional(Type.Integer()),
  labels: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 500 })),
  new_labels: Type.Optional(Type.String({ maxLength: 2000 }))
}

export interface PlanForm {
  readonly assignee_id?: number
  readonly milestone_id?: number
  readonly labels?: readonly string[]
  readonly new_labels?: string
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
}

/** Returns the plan with what the visitor has entered in a form that was refused. */
export function withEntered(plan: ShownPlan, entered: PlanForm, { members, milestones }: Choices): ShownPlan {
  const { assignee_id: assignee, milestone_id: milestone, labels, new_labels: newLabels } = entered
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
    newLabels
  }
}
