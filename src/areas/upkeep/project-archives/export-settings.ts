// The records of an archive about hooks, variables, schedules, environments and deployments.
import { decryptNamed } from '../../../secrets.js'
import { shownUrl } from '../../../webhooks/url.js'
import { unseal } from '../../ci/pipelines/given-variables.js'
import { isMasked, MASKED_AS_BEFORE } from '../../ci/variables/hidden-values.js'
import { at, type Draft, flag, times, without } from './export-records.js'
import type { ProjectRows } from './export-rows.js'
import type { Extra } from './format.js'

type Wanted = ReadonlySet<Extra>

/** Without the tokens, the values in the query of a URL and its password are hidden, too: many receivers accept a token there. */
export async function* hookRecords(source: ProjectRows, wanted: Wanted): AsyncGenerator<Draft> {
  const withTokens = wanted.has('hook-tokens')
  for await (const page of source.pages('hook')) {
    for (const { id, url, token_encrypted: box, created_at, updated_at, ...flags } of page) {
      const token = withTokens && box !== null ? decryptNamed(`the token of hook ${id}`, box as Buffer) : null
      yield {
        kind: 'hook',
        url: withTokens ? url : shownUrl(String(url)),
        token,
        ...Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, Boolean(value)])),
        created_at: at(created_at),
        updated_at: at(updated_at)
      }
    }
  }
}

export async function* variableRecords(source: ProjectRows): AsyncGenerator<Draft> {
  for await (const page of source.pages('variable')) {
    for (const row of page) {
      const value = decryptNamed(`variable ${row.key}`, row.value_encrypted as Buffer)
      yield {
        kind: 'variable',
        ...without(row, 'value_encrypted'),
        value,
        masked: row.masked === MASKED_AS_BEFORE ? isMasked(MASKED_AS_BEFORE, value) : flag(row.masked),
        protected: flag(row.protected),
        ...times(row)
      }
    }
  }
}

/** Schedules have variables of their own, which are as secret as those of the project. */
export async function* scheduleRecords(source: ProjectRows, wanted: Wanted): AsyncGenerator<Draft> {
  for await (const page of source.pages('pipeline_schedule')) {
    for (const row of page) {
      const variables = wanted.has('variables') ? unseal(row.variables_encrypted as Buffer | null) : null
      yield {
        kind: 'pipeline_schedule',
        ...without(row, 'variables_encrypted'),
        variables: Object.entries(variables ?? {}).map(([key, value]) => ({ key, value })),
        ...times(row)
      }
    }
  }
}

export async function* environmentRecords(source: ProjectRows): AsyncGenerator<Draft> {
  for await (const page of source.pages('environment')) {
    for (const row of page) yield { kind: 'environment', ...without(row), ...times(row) }
  }
}

/** `builds` maps the ids of builds that have deployed to their numbers in the archive. */
export async function* deploymentRecords(
  source: ProjectRows,
  builds: ReadonlyMap<number, number>
): AsyncGenerator<Draft> {
  for await (const page of source.pages('deployment')) {
    for (const row of page) {
      const build = builds.get(Number(row.build_id))
      yield {
        kind: 'deployment',
        ...without(row, 'build_id'),
        build,
        tag: flag(row.tag),
        created_at: at(row.created_at)
      }
    }
  }
}
