// The rules that protect branches of a project.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findBranch } from '../../../areas/code/refs/branches.js'
import { ProtectionBody } from '../../../areas/code/refs/branches.schema.js'
import { protectBranch, unprotectBranch } from '../../../areas/code/refs/protected-branches.js'
import { findProtections } from '../../../areas/code/refs/protected-branches.queries.js'
import { NotFound } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { branchNames } from '../merge-requests/branch-names.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath, showSettings } from './menu.js'

const Branch = Type.Object({ branch: Type.String({ minLength: 1, maxLength: 1024 }) })
const Rule = Type.Object({ ...Branch.properties, ...ProtectionBody.properties })

export const protectedBranchPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/settings/branches'
  const config = { can: 'branch.protect' as const }

  app.get(all, { config }, (request, reply) => showRules(request, reply))

  app.post(all, { config, schema: { body: Rule } }, async (request, reply) => {
    const { branch, ...rights } = request.body
    try {
      const { rules } = await findProtections(request.project.id)
      // A rule may be a pattern, or have outlived its branch.
      if (!rules.some(({ name }) => name === branch)) await findBranch(request.project, branch)
      await protectBranch(request.project, branch, rights, request.origin)
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      const refusals = error instanceof NotFound ? { branch: 'does not exist' } : refusalsOf(error)
      return showRules(request, reply.code(400), branch, refusals)
    }
  })

  app.post(`${all}/unprotect`, { config, schema: { body: Branch } }, async (request, reply) => {
    await unprotectBranch(request.project, request.body.branch, request.origin)
    return reply.redirect(pathOf(request), 303)
  })
}

const pathOf = (request: FastifyRequest) => `${settingsPath(request)}/branches`

async function showRules(request: FastifyRequest, reply: FastifyReply, entered = '', refusals?: Refusals) {
  const { project, actor } = request
  const [{ rules }, branches] = await Promise.all([findProtections(project.id), branchNames(project, actor)])
  const names = new Set(rules.map(({ name }) => name))
  return showSettings(request, reply, 'branches', {
    title: 'Protected branches',
    rules,
    branches: branches.filter(name => !names.has(name)),
    action: pathOf(request),
    entered,
    refusals
  })
}
