// Chooses the variables of a project that one of its builds gets.
import { matchesStars } from '../lib/stars.js'
import type { CiVariable } from './config-types.js'

export const EVERY_ENVIRONMENT = '*'

export interface ProjectVariable extends CiVariable {
  /** Traces do not show the value. */
  readonly masked: boolean
  /** Only builds of protected branches get it. */
  readonly protected: boolean
  /** The name of an environment, in which `*` stands for any characters. */
  readonly scope: string
}

/** A variable whose value traces do not show if it is masked. */
export interface MaskableVariable extends CiVariable {
  readonly masked?: true
}

export interface ScopeOfBuild {
  /** The name of its environment; null without one. */
  readonly environment: string | null
  readonly refProtected: boolean
}

/**
 * Returns the variables for a build, each key once. Of several with one key, the most exact scope wins: the name of the
 * environment itself, and then the pattern with the most other characters than `*`. Not specified: among equal ones, the
 * one with fewer `*`, and then the first by its text.
 */
export function chooseVariables(all: readonly ProjectVariable[], build: ScopeOfBuild): MaskableVariable[] {
  const chosen = new Map<string, ProjectVariable>()
  for (const variable of all) {
    if (variable.protected && !build.refProtected) continue
    if (!reaches(variable.scope, build.environment)) continue
    const other = chosen.get(variable.key)
    if (!other || compareScopes(variable.scope, other.scope) < 0) chosen.set(variable.key, variable)
  }
  return [...chosen.values()].map(({ key, value, masked }) => ({ key, value, ...(masked && { masked }) }))
}

/** A build without an environment gets only variables for all environments. */
const reaches = (scope: string, environment: string | null) =>
  scope === EVERY_ENVIRONMENT || (environment !== null && matchesStars(scope, environment))

/** Returns less than 0 when the first scope is more exact. */
function compareScopes(one: string, other: string): number {
  const [stars, letters] = [starsIn(one) - starsIn(other), one.length - starsIn(one) - (other.length - starsIn(other))]
  if (starsIn(one) === 0 || starsIn(other) === 0) return stars
  return -letters || stars || (one < other ? -1 : 1)
}

const starsIn = (scope: string) => scope.split('*').length - 1
