import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { requireAsker } from '../../../access/actor.js'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { branchReader, createBranch, deleteBranch, findBranch, listBranches } from './branches.js'
import { BranchParams, MergedBranches, NewBranch, ProtectionBody, RemovedBranch } from './branches.schema.js'
import { Branch, viewBranch } from './branches.view.js'
import { scheduleMergedBranches } from './merged-branches.js'
import { protectBranch, unprotectBranch } from './protected-branches.js'
import { type LongListing, listingHeaders, listRecords } from './ref-listing.js'

const TAGS = ['Branches']

const sendLong = (reply: FastifyReply, listing: LongListing) =>
  reply.headers(listingHeaders(listing)).send(listing.stream)

export const branchRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'branch.read' as const }
  const write = { can: 'branch.write' as const }
  const protect = { can: 'branch.protect' as const }

  app.get(
    '/projects/:id/repository/branches',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'List the branches',
        description:
          'All branches, by name, in at most 32 MiB; the header `X-Gitstead-Truncated: true` says that there are more.',
        params: ProjectParams,
        errors: [304],
        response: { 200: Type.Array(Branch) }
      }
    },
    async ({ project }, reply) => {
      const list = await listBranches(project)
      if (reply.isKnown(list.version)) return reply
      const read = await branchReader(project, list)
      const listing = await listRecords(list.branches, async some => (await read(some)).map(viewBranch))
      return 'records' in listing ? listing.records : sendLong(reply, listing)
    }
  )

  app.get(
    '/projects/:id/repository/branches/:branch',
    {
      config: read,
      schema: { tags: TAGS, summary: 'Get a branch', params: BranchParams, response: { 200: Branch } }
    },
    async ({ project, params }) => viewBranch(await findBranch(project, params.branch))
  )

  app.post(
    '/projects/:id/repository/branches',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Create a branch',
        params: ProjectParams,
        body: NewBranch,
        response: { 201: Branch }
      }
    },
    async ({ project, body, origin }, reply) =>
      reply.code(201).send(viewBranch(await createBranch(project, body, origin)))
  )

  app.delete(
    '/projects/:id/repository/branches/:branch',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Delete a branch',
        params: BranchParams,
        errors: [405],
        response: { 200: RemovedBranch }
      }
    },
    async ({ project, params, origin }) => {
      await deleteBranch(project, params.branch, origin)
      return { branch_name: params.branch }
    }
  )

  app.delete(
    '/projects/:id/repository/merged_branches',
    {
      // Decided: 403 for callers who may not push.
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Delete the branches that are merged into the default branch',
        description: 'Runs in the background. The default branch and protected branches stay.',
        params: ProjectParams,
        response: { 200: MergedBranches }
      }
    },
    async ({ project, origin }) => {
      await scheduleMergedBranches(project, requireAsker(origin))
      // Not specified: the body.
      return { message: 'The merged branches are deleted in the background' }
    }
  )

  app.put(
    '/projects/:id/repository/branches/:branch/protect',
    {
      config: protect,
      schema: {
        tags: TAGS,
        summary: 'Protect a branch',
        params: BranchParams,
        body: ProtectionBody,
        response: { 200: Branch }
      }
    },
    async ({ project, params, body, origin }) => {
      await findBranch(project, params.branch)
      await protectBranch(project, params.branch, body, origin)
      return viewBranch(await findBranch(project, params.branch))
    }
  )

  app.put(
    '/projects/:id/repository/branches/:branch/unprotect',
    {
      config: protect,
      schema: {
        tags: TAGS,
        summary: 'Unprotect a branch',
        description: 'The branch stays protected if a pattern also matches it.',
        params: BranchParams,
        response: { 200: Branch }
      }
    },
    async ({ project, params, origin }) => {
      await findBranch(project, params.branch)
      await unprotectBranch(project, params.branch, origin)
      return viewBranch(await findBranch(project, params.branch))
    }
  )
}
