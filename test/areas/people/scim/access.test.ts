import { testAccess } from '../../../access/matrix.js'
import { access } from './scim.access.js'

testAccess([access])
